"""What a notebook shows: small, escaped, self-contained."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from franet.network import AttributeNetwork, Representation

# After Okabe and Ito: told apart by people with any kind of color vision.
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
SHOWN = 10
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
    plain, short = printable(text), shorten(text, _LONGEST)
    title = "" if short == plain else f' title="{escape(plain)}"'
    # Text that runs from right to left must not turn its neighbours round.
    return f"<bdi{title}>{escape(short)}</bdi>"


def printable(text: str) -> str:
    """Return text in which each character has a form."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def shorten(text: str, width: int) -> str:
    """Return printable text of at most so many characters."""
    plain = printable(text)
    return plain if len(plain) <= width else plain[: width - 1] + "…"


def best_html(
    head: Sequence[str], rows: Sequence[Sequence[str]], n: int, what: str
) -> str:
    """Return a table of the best of `n`, and how many more there are."""
    more = f"<div>and {n - SHOWN:,} more {what}</div>" if n > SHOWN else ""
    return table_html(head, rows) + more if rows else ""


def network_html(net: AttributeNetwork) -> str:
    """Return a summary of a network: its numbers and its best groups."""
    who = net.representation
    facts, table = _communities(net) if who is None else _representatives(net, who)
    return f"<div><b>AttributeNetwork</b> · {' · '.join(facts)}{table}</div>"


def _communities(net: AttributeNetwork) -> tuple[list[str], str]:
    """Return the numbers of a network, and its communities as a table."""
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
        for c in range(min(len(found), SHOWN))
    ]
    head = ("hub of the community", "rank", "features", "mean similarity")
    return facts, best_html(head, rows, len(found), "communities")


def _representatives(
    net: AttributeNetwork, found: Representation
) -> tuple[list[str], str]:
    """Return the numbers of a network of representatives, and the best of these."""
    who = found.representatives
    who = who[np.argsort(net.ranking[who], kind="stable")]
    n_left = int(np.isnan(found.r).sum())
    facts = [
        f"{len(net):,} features",
        f"{len(who):,} representatives",
        f"{net.n_edges:,} edges, each from a feature to its representative",
    ]
    if n_left:
        facts.append(f"{n_left:,} without a representative")
    rows: list[tuple[str, ...]] = []
    for j in who[:SHOWN]:
        below = np.abs(found.r[found.represented_by(int(j))])
        mean = f"{below.mean():.2f}" if len(below) else "–"
        rows.append((str(net.names[j]), f"{net.ranking[j]:,}", f"{len(below):,}", mean))
    head = ("representative", "rank", "represents", "mean |r|")
    return facts, best_html(head, rows, len(who), "representatives")
