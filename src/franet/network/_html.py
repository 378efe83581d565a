"""What a notebook shows: small, escaped, self-contained."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from franet.network._explain import signed

if TYPE_CHECKING:
    from franet.network import AttributeNetwork, Representation

__all__ = ["network_html", "ranking_html", "table_html"]

_SHOWN = 10
_LONGEST = 60
# Colours are left to the notebook, so that light and dark both work.
_CELL = "padding:2px 10px;text-align:left;border-bottom:1px solid #8884"
_NUMBER = "padding:2px 10px;text-align:right;border-bottom:1px solid #8884"
_TABLE = "border-collapse:collapse;font-size:90%;margin:4px 0"


def table_html(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; the first column is text, the others are numbers.

    Parameters
    ----------
    head : sequence of str
        The titles of the columns.
    rows : iterable of sequences of str
        The cells, not yet escaped.
    """
    styles = [_CELL] + [_NUMBER] * (len(head) - 1)
    line = "".join(
        f'<th scope="col" style="{style}">{escape(title)}</th>'
        for style, title in zip(styles, head, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{style}">{_cell(cell)}</td>'
            for style, cell in zip(styles, row, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<table style="{_TABLE}"><thead><tr>{line}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _cell(text: str) -> str:
    """Return text for a cell; what is long is cut and stands in the title."""
    plain = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    # Text that runs from right to left must not turn its neighbours round.
    if len(plain) <= _LONGEST:
        return f"<bdi>{escape(plain)}</bdi>"
    title = escape(plain)
    return f'<bdi title="{title}">{escape(plain[: _LONGEST - 1])}…</bdi>'


def network_html(net: AttributeNetwork) -> str:
    """Return a summary of a network: its numbers and its communities."""
    if net.representation is not None:
        return _cover_html(net, net.representation)
    found = net.communities()
    alone = int((found.labels < 0).sum())
    threshold = "no threshold" if np.isnan(net.threshold) else f"{net.threshold:.4g}"
    facts = [
        f"{len(net):,} features",
        f"{net.n_edges:,} edges",
        f"threshold {threshold}",
        f"{len(found):,} communities ({found.method})",
        f"{alone:,} features without an edge",
    ]
    if net.truncated_:
        facts.append(f"only the {net.adjacency.nnz // 2:,} strongest edges are stored")
    rows = [
        (
            str(net.names[found.hub[c]]),
            f"{net.ranking[found.hub[c]]:,}",
            f"{found.size[c]:,}",
            f"{found.mean_similarity[c]:.4g}",
        )
        for c in range(min(len(found), _SHOWN))
    ]
    head = ("hub of the community", "rank", "features", "mean similarity")
    more = _more(len(found), "communities")
    table = table_html(head, rows) + more if rows else ""
    return f"<div><b>AttributeNetwork</b> · {' · '.join(facts)}{table}</div>"


def _cover_html(net: AttributeNetwork, found: Representation) -> str:
    """Return a summary of a network of representatives: the best of these."""
    who = found.representatives
    who = who[np.argsort(net.ranking[who], kind="stable")]
    nobody = int(np.isnan(found.r).sum())
    facts = [
        f"{len(net):,} features",
        f"{len(who):,} representatives",
        f"{net.n_edges:,} edges, each from a feature to its representative",
    ]
    if nobody:
        facts.append(f"{nobody:,} constant")
    rows = []
    for j in who[:_SHOWN]:
        below = np.abs(found.r[found.stood_for(int(j))])
        mean = f"{below.mean():.2f}" if len(below) else "–"
        rows.append((str(net.names[j]), f"{net.ranking[j]:,}", f"{len(below):,}", mean))
    head = ("representative", "rank", "stands for", "mean |r|")
    table = table_html(head, rows) + _more(len(who), "representatives") if rows else ""
    return f"<div><b>AttributeNetwork</b> · {' · '.join(facts)}{table}</div>"


def _more(n: int, what: str) -> str:
    return f"<div>and {n - _SHOWN:,} more {what}</div>" if n > _SHOWN else ""


def ranking_html(ranker: Any) -> str:
    """Return the best features of a fitted ranker; nothing before the fit."""
    if not hasattr(ranker, "ranking_"):
        return ""
    n = len(ranker.ranking_)
    names = getattr(ranker, "feature_names_in_", None)
    best = np.argsort(ranker.ranking_, kind="stable")[:_SHOWN]
    rows: list[tuple[str, ...]] = [
        (
            f"x{j}" if names is None else str(names[j]),
            f"{ranker.ranking_[j]:,}",
            f"{ranker.scores_[j]:.4g}",
        )
        for j in best
    ]
    head: tuple[str, ...] = ("feature", "rank", "score")
    said = ""
    who = getattr(getattr(ranker, "network_", None), "representation", None)
    if who is not None:
        head = (*head, "representation")
        rows = [(*row, _role(who, int(j))) for row, j in zip(rows, best, strict=True)]
        said = f"<div>{escape(str(ranker.suggestion_))}.</div>"
    table = table_html(head, rows)
    return f"<div>The best of {n:,} features{said}{table}{_more(n, 'features')}</div>"


def _role(who: Representation, j: int) -> str:
    """Return for how many others a feature stands, or which one stands for it."""
    if who.by[j] == j:
        n = len(who.stood_for(j))
        return f"stands for {n:,}" if n else "stands for itself"
    if np.isnan(who.r[j]):
        return "–"
    return f"by {who.names[j]} ({signed(who.r[j])})"
