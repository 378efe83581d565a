"""A panel of genes as a plain dict, from which a page is made."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from franet._common import checked as kinds
from franet.estimators._validation import names_of
from franet.exceptions import Setting, UsageError
from franet.report._summary import _FEW, _parameters, _text, versions
from franet.report._sure import of_feature, of_ranking
from franet.report._text import number, numbers, words

if TYPE_CHECKING:
    from franet.evaluation.panel import Labels, PanelJudgement

FORMAT = "franet-panel"
VERSION = 1

# Places of cells, and levels of genes, are whole numbers up to these.
_WIDTH, _LEVELS = 1000, 255
_JUDGED = kinds.Kind("what judge_panel returned", lambda value: hasattr(value, "panel"))


@kinds.checked(
    ranker=kinds.RANKER,
    judged=_JUDGED,
    names=kinds.optional(kinds.SEVERAL),
    title=kinds.optional(kinds.TEXT),
    seconds=kinds.optional(kinds.NUMBER),
    warnings=kinds.SEVERAL,
    stability=kinds.optional(kinds.STABILITY),
)
def summarize_panel(
    ranker: Any,
    X: Any,
    judged: PanelJudgement,
    *,
    labels: Sequence[Any] | None = None,
    embedding: Any = None,
    names: Sequence[str] | None = None,
    title: str | None = None,
    seconds: float | None = None,
    warnings: Sequence[str] = (),
    stability: Any = None,
) -> dict[str, Any]:
    """Return what a page shows of a panel of genes, as a plain dict.

    Parameters
    ----------
    ranker : Cover
        The fitted ranker, whose first picks are the panel.
    X : ndarray or sparse matrix of shape (n_cells, n_genes)
        The values that are shown, not centered within batches.
    judged : PanelJudgement
        What `franet.evaluation.judge_panel` says of the panel. The samples that judged
        it are the cells of the picture.
    labels : sequence of shape (n_cells,), optional
        The type of each cell, as it was judged.
    embedding : array-like of shape (n_cells, 2), optional
        Where cells are drawn, such as their UMAP; by default two principal components.
    names : sequence of str, optional
        The names of the genes, where the fit had none.
    title : str, optional
        What was ranked, such as the name of a file.
    seconds : float, optional
        How long the ranking took.
    warnings : sequence of str, optional
        What else the reader should know.
    stability : Stability, optional
        How sure the picks are: what ``ranker.stability`` returned.

    Returns
    -------
    summary : dict
        Fit for JSON, and for `write`. ``genes`` has a row for each gene of the panel;
        ``types``, ``confusion`` and ``heat`` are None without labels.

    Raises
    ------
    UsageError
        Where the panel is not that of the ranker, or there is not one label, or one
        place, for each cell.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from franet import Cover
    >>> from franet.evaluation import judge_panel
    >>> from franet.report import summarize_panel
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> cover = Cover(3).fit(X)
    >>> judged = judge_panel(X, cover.order_[:3], y)
    >>> summary = summarize_panel(cover, X.to_numpy(), judged, labels=y)
    >>> summary["genes"][0]["name"] == judged.panel[0]
    True
    """
    check_is_fitted(ranker)
    known = [_text(name) for name in (names_of(ranker) if names is None else names)]
    panel = ranker.order_[: len(judged.columns)]
    if not np.array_equal(panel, judged.columns):
        raise UsageError(
            "{} is of another panel than the first picks of the ranker.",
            Setting("judged"),
        )
    for name, given in (("labels", labels), ("embedding", embedding)):
        if given is not None and len(given) != judged.n_samples:
            raise UsageError(
                f"{{}}: {len(given)} are given for {judged.n_samples} cells.",
                Setting(name),
            )
    P = X[:, panel]
    P = np.asarray(P.toarray() if sparse.issparse(P) else P, np.float64)
    place = judged.place
    if embedding is not None:
        place = np.asarray(embedding, np.float64)[judged.rows, :2]
    found = judged.labels
    codes = heat = None
    if found is not None and labels is not None:
        at = {name: t for t, name in enumerate(found.names)}
        codes = np.array([at.get(str(label), -1) for label in labels], np.intp)
        heat = _heat(P, codes, len(found.names))
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": title or "Gene panel",
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "n_cells": judged.n_samples,
        "n_judged": judged.n_judged,
        "n_genes": len(known),
        "n_panel": len(panel),
        "explained": number(_at(ranker.explained_, len(panel) - 1), 5),
        "overlap": number(judged.overlap, 5),
        "n_components": judged.n_components,
        "sentences": [ranker.summary(), *judged.sentences()],
        "stability": of_ranking(ranker, stability, known),
        "warnings": list(warnings),
        "genes": _genes(ranker, P, judged, known, stability),
        "types": None if found is None else _types(found),
        "confusion": None
        if found is None
        else [numbers(row, 4) for row in found.confusion],
        "heat": heat,
        "cells": _cells(
            place,
            P[judged.rows],
            None if codes is None else codes[judged.rows],
            "two principal components" if embedding is None else "the stored embedding",
        ),
        "parameters": _parameters(ranker) | _by_name(ranker, known),
        "versions": versions(),
        "seconds": None if seconds is None else round(seconds, 3),
    }


def panel_columns(summary: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the panel as columns of a table to be saved, a row for each gene."""
    genes = summary["genes"]
    columns: dict[str, list[Any]] = {"rank": [], "feature": []}
    for gene in genes:
        row = {**gene, "feature": gene["name"], "carries": "; ".join(gene["carries"])}
        for name in ("name", "stability", "is_start"):
            row.pop(name)
        if gene["stability"] is not None:
            row["picked_again"] = gene["stability"]["held"]
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    if summary["types"] is None:
        for name in ("carries", "expendable"):
            columns.pop(name)
    return columns


def _by_name(ranker: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the lists of genes among the parameters, by name; of long ones a count."""
    found = {}
    for parameter in ("include", "exclude"):
        given = getattr(ranker, parameter)
        if given is not None:
            shown = [
                names[int(g)] if isinstance(g, int | np.integer) else _text(g)
                for g in given
            ]
            few = len(shown) <= _FEW
            found[parameter] = shown if few else words(len(shown), "gene")
    return found


def _at(values: NDArray[Any], at: int) -> float:
    return float(values[at]) if at < len(values) else np.nan


def _genes(
    ranker: Any,
    P: NDArray[np.float64],
    judged: PanelJudgement,
    names: Sequence[str],
    stability: Any,
) -> list[dict[str, Any]]:
    """Return a row for each gene of the panel."""
    found, rows = judged.labels, []
    included = ranker.include
    start = set() if included is None else {str(name) for name in included}
    for at, (name, j) in enumerate(zip(judged.panel, judged.columns, strict=True)):
        carries = [] if found is None else zip(found.names, found.carriers, strict=True)
        rows.append(
            {
                "rank": at + 1,
                "name": names[j],
                "is_start": bool({names[j], str(j)} & start),
                "explained": number(_at(ranker.explained_, at), 5),
                "n_members": len(ranker.members_.get(int(j), ())),
                "detected": number(np.mean(P[:, at] != 0.0), 4),
                "level": number(P[:, at].mean(), 4),
                "stand_in": _text(judged.stand_in[at]),
                "stand_in_r": number(judged.stand_in_r[at], 3),
                "carries": [_text(label) for label, by in carries if name in by],
                "expendable": None if found is None else name in found.expendable,
                "stability": of_feature(stability, int(j), names),
            }
        )
    return rows


def _types(found: Labels) -> list[dict[str, Any]]:
    """Return a row for each type."""
    rows = []
    for t, name in enumerate(found.names):
        others = found.confusion[t].copy()
        others[t] = 0.0
        near = int(others.argmax())
        taken = None
        if others[near] > 0.0:
            taken = {
                "name": _text(found.names[near]),
                "share": number(others[near], 4),
            }
        rows.append(
            {
                "name": _text(name),
                "count": int(found.counts[t]),
                "f1_neighbors": number(found.f1_neighbors[t], 4),
                "f1_logistic": number(found.f1_logistic[t], 4),
                "taken_for": taken,
                "carriers": [_text(gene) for gene in found.carriers[t]],
            }
        )
    return rows


def _heat(P: NDArray[np.float64], codes: NDArray[np.intp], k: int) -> list[Any]:
    """Return the mean of each gene (rows) in each type, from 0 to 1, the largest."""
    means = np.stack([P[codes == t].mean(axis=0) for t in range(k)], axis=1)
    low = means.min(axis=1, keepdims=True)
    width = means.max(axis=1, keepdims=True) - low
    shown = np.divide(means - low, width, out=np.zeros_like(means), where=width > 0.0)
    return [numbers(row, 3) for row in shown]


def _cells(
    place: NDArray[np.float64],
    P: NDArray[np.float64],
    codes: NDArray[np.intp] | None,
    how: str,
) -> dict[str, Any]:
    """Return where cells are, and how much of each gene they have, in few bytes."""
    low = place.min(axis=0)
    width = (place.max(axis=0) - low).max() or 1.0
    xy = np.round((place - low) / width * _WIDTH).astype(int)
    floor, high = P.min(axis=0), P.max(axis=0)
    height = np.where(high > floor, high - floor, 1.0)
    shown = np.round((P - floor) / height * _LEVELS).astype(np.uint8)
    return {
        "how": how,
        "count": words(len(P), "cell"),
        "x": xy[:, 0].tolist(),
        "y": xy[:, 1].tolist(),
        "type": None if codes is None else codes.tolist(),
        "low": numbers(floor, 4),
        "high": numbers(high, 4),
        "level": [b64encode(row.tobytes()).decode() for row in shown.T.copy()],
    }
