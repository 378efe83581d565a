"""How good a panel is: which neighbors it keeps, and which labels it separates."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.preprocessing import StandardScaler

from franet._common.checked import SEED, check_value
from franet._common.features import FeatureIndex
from franet._common.progress import report
from franet.cover._constraints import find_features
from franet.cover._rows import take_rows
from franet.exceptions import DataError, Setting, UsageError
from franet.pairs.columns import Columns
from franet.pairs.columns._base import check_finite

# Samples that judge, and neighbors and components by which they do.
MOST, NEIGHBORS, COMPONENTS = 2048, 15, 50
FOLDS, _NEAREST = 5, 5
# Of two labels this share of samples of one is taken for the other: not separated.
MIXED = 0.25
_CARRIERS, _STRENGTH = 3, 0.1


@dataclass(frozen=True, eq=False)
class Labels:
    """What a panel separates; each sample is judged by a model that did not see it.

    Attributes
    ----------
    names : list of str
        The labels that are judged.
    counts : ndarray of int of shape (k,)
        How many samples have each.
    f1_neighbors, f1_logistic : ndarray of shape (k,)
        The F1 score of each, by five nearest neighbors and by logistic regression.
    confusion : ndarray of shape (k, k)
        Which share of the samples of each label (rows) is taken for each (columns):
        the mean of both models.
    carriers : list of list of str
        For each label the features that speak most for it by being high, at most
        three.
    expendable : list of str
        Features that can be left out together: the mean F1 score of the others is
        lower by its standard error over the folds at most.
    left_out : list of str
        Labels with fewer than five samples, which are not judged.
    """

    names: list[str]
    counts: NDArray[np.intp]
    f1_neighbors: NDArray[np.float64]
    f1_logistic: NDArray[np.float64]
    confusion: NDArray[np.float64]
    carriers: list[list[str]]
    expendable: list[str]
    left_out: list[str] = field(default_factory=list)

    @property
    def mixed(self) -> list[tuple[str, str, float]]:
        """Labels that are not separated: which, from which, and for which share."""
        shares = self.confusion - np.diag(np.diag(self.confusion))
        found = zip(*np.nonzero(shares >= MIXED), strict=True)
        pairs = [(self.names[a], self.names[b], float(shares[a, b])) for a, b in found]
        return sorted(pairs, key=lambda pair: -pair[2])


@dataclass(frozen=True, eq=False)
class PanelJudgement:
    """How good a panel is; what `judge_panel` returns.

    Attributes
    ----------
    panel : list of str
        The features of the panel.
    columns : ndarray of int
        Which columns of the table they are.
    n_samples, n_judged : int
        The samples of the table, and those that judge.
    overlap : float
        The share of the 15 nearest samples in the principal components of the whole
        table that are among the 15 nearest by the panel.
    n_components : int
        How many components: 50, or fewer in small tables.
    stand_in : list of str
        For each feature of the panel the feature outside of it that correlates most.
    stand_in_r : ndarray
        Their correlation.
    rows : ndarray of int of shape (n_judged,)
        Which samples judge.
    place : ndarray of shape (n_judged, 2)
        Their first two principal components, for pictures.
    labels : Labels or None
        What the panel separates; None without labels.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from franet.evaluation import judge_panel
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> judge_panel(X, ["proline", "flavanoids", "color_intensity"], y).panel
    ['proline', 'flavanoids', 'color_intensity']
    """

    panel: list[str]
    columns: NDArray[np.intp]
    n_samples: int
    n_judged: int
    overlap: float
    n_components: int
    stand_in: list[str]
    stand_in_r: NDArray[np.float64]
    rows: NDArray[np.intp]
    place: NDArray[np.float64]
    labels: Labels | None = None

    def sentences(self) -> list[str]:
        """Return what there is to say about the panel, a sentence or two each."""
        of = f"{self.n_judged:,}"
        if self.n_judged < self.n_samples:
            of += f" of {self.n_samples:,} samples, drawn with a seed,"
        else:
            of += " samples"
        said = [
            f"By {of} the panel keeps {100 * self.overlap:.0f} % of the {NEIGHBORS} "
            f"nearest neighbors in {self.n_components} principal components."
        ]
        if self.labels is None:
            return said
        found = self.labels
        said.append(
            f"Mean F1 score of {len(found.names)} labels, held-out samples: "
            f"{found.f1_neighbors.mean():.2f} by {_NEAREST} nearest neighbors, "
            f"{found.f1_logistic.mean():.2f} by logistic regression."
        )
        if found.mixed:
            pairs = [f"{a} from {b} ({100 * s:.0f} %)" for a, b, s in found.mixed[:5]]
            more = " and others" if len(found.mixed) > len(pairs) else ""
            said.append(f"Not separated: {'; '.join(pairs)}{more}.")
        count = len(found.expendable)
        if count:
            said.append(
                f"{count} of {len(self.panel)} features can be left out together "
                "without loss, judged by the same samples."
            )
        if found.left_out:
            said.append(
                f"Not judged, with fewer than {FOLDS} samples: "
                f"{', '.join(found.left_out)}."
            )
        return said


def judge_panel(
    X: Any,
    panel: Sequence[str | int],
    labels: Any = None,
    *,
    names: Sequence[str] | None = None,
    random_state: int = 0,
) -> PanelJudgement:
    """Judge a panel, a few columns of a table that somebody or something chose.

    Of more samples than 2,048, that many are drawn.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The table: for genes normalized, log-transformed values.
    panel : sequence of str or int
        Columns by name, position or pattern, such as ``"MT-*"``.
    labels : array-like of shape (n_samples,), default=None
        A label for each sample, such as its cell type; None and NaN: no label.
    names : sequence of str, default=None
        The names of the columns; None: those of a data frame, or ``x0``, ``x1``, …
    random_state : int, default=0
        The seed by which samples are drawn, and put into five folds.

    Returns
    -------
    PanelJudgement
        Which neighbors the panel keeps and which features could take the place of
        others. With `labels` which of them it separates: each fifth of the samples is
        judged by models of the other four.

    Raises
    ------
    DataError
        Where there are fewer than two labels with five samples, or values are missing.
    UsageError
        Where `panel` names a column that is not there, or there is not one label for
        each sample.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from franet.evaluation import judge_panel
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> judged = judge_panel(X, ["proline", "flavanoids", "color_intensity"], y)
    >>> judged.labels.names
    ['0', '1', '2']
    >>> judged.labels.f1_logistic.round(2)
    array([0.94, 0.94, 0.98])
    """
    from franet.estimators._cover import Cover
    from franet.estimators._validation import check_table, names_of

    seed = random_state
    check_value("random_state", seed, SEED.accepts(seed), f"give {SEED.words}.")
    table = Cover()
    X = check_table(table, X, lazy=True)
    known = np.array(names_of(table) if names is None else list(names), object)
    m, n = X.shape
    if len(known) != n:
        raise UsageError(
            f"{{}}: {len(known)} are given for {n} columns. Give one for each.",
            Setting("names"),
        )
    FeatureIndex(known).check_unique("A panel")
    columns = np.array(find_features(known, panel, "panel"), np.intp)
    if not len(columns):
        raise UsageError("{} names no column.", Setting("panel"))
    rows = np.sort(np.random.default_rng(seed).permutation(m)[:MOST])
    codes, types, left_out = _codes(labels, m, rows)
    X = _rows(X, rows, known)
    P = X[:, columns]
    P = np.asarray(P.toarray() if sparse.issparse(P) else P, np.float64)
    genes = [str(known[j]) for j in columns]
    at, r = _stand_ins(X, P, columns)
    judged = None
    if codes is not None:
        there = codes >= 0
        judged = _separated(P[there], codes[there], types, genes, seed, left_out)
    overlap, place = _overlap(X, P, seed)
    return PanelJudgement(
        panel=genes,
        columns=columns,
        n_samples=m,
        n_judged=len(rows),
        overlap=overlap,
        n_components=_components(X),
        stand_in=[str(known[j]) if j >= 0 else "" for j in at],
        stand_in_r=r,
        rows=rows,
        place=place,
        labels=judged,
    )


def _rows(X: Any, rows: NDArray[np.intp], names: Any) -> Any:
    """Return some rows; of a table that is not in memory no others are kept."""
    if isinstance(X, Columns):
        drawn = take_rows(X, rows)
        check_finite(drawn, names, False, None)
        return drawn
    return X.tocsr()[rows] if sparse.issparse(X) else X[rows]


def _codes(
    labels: Any, m: int, rows: NDArray[np.intp]
) -> tuple[NDArray[np.intp] | None, list[str], list[str]]:
    """Return the label of each drawn sample, -1 for none; labels, and rare ones."""
    if labels is None:
        return None, [], []
    given = np.asarray(labels, object).ravel()
    if len(given) != m:
        raise UsageError(
            f"{{}}: {len(given)} are given for {m} samples. Give one for each.",
            Setting("labels"),
        )
    texts = ["" if x is None or x != x else str(x) for x in given[rows]]
    names, codes = np.unique(np.array(texts, object).astype(str), return_inverse=True)
    counts = np.bincount(codes)
    fine = (counts >= FOLDS) & (names != "")
    if fine.sum() < 2:
        have = f"only {names[fine][0]!r} has" if fine.any() else "none has"
        raise DataError(
            f"{{}}: two of them with at least {FOLDS} samples are needed, and {have}.",
            Setting("labels"),
        )
    place = np.where(fine, np.cumsum(fine) - 1, -1)
    rare = [str(name) for name in names[~fine] if name]
    return place[codes], [str(name) for name in names[fine]], rare


def _components(X: Any) -> int:
    return min(COMPONENTS, *(size - 1 for size in X.shape))


def _overlap(
    X: Any, P: NDArray[np.float64], seed: int
) -> tuple[float, NDArray[np.float64]]:
    """Return which share of the nearest samples the panel finds, and two components."""
    m = len(P)
    report("neighbors", 0, 1)
    space = PCA(_components(X), svd_solver="arpack", random_state=seed).fit_transform(X)
    near = [
        NearestNeighbors(n_neighbors=min(NEIGHBORS, m - 1)).fit(each).kneighbors_graph()
        for each in (space, P)
    ]
    # Of two columns there is one component.
    place = np.column_stack([space, np.zeros(m)])[:, :2]
    return float(near[0].multiply(near[1]).sum() / near[0].sum()), place


def _stand_ins(
    X: Any, P: NDArray[np.float64], columns: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return which other column correlates most with each of a panel, and how."""
    scaled = StandardScaler(with_mean=False).fit(X)
    deviation = np.sqrt(scaled.var_)
    Z = StandardScaler().fit_transform(P)
    R = np.asarray(X.T @ Z) / len(P)
    R = np.divide(R, deviation[:, None], out=np.zeros_like(R), where=R != 0.0)
    R[deviation == 0.0] = 0.0
    R[columns] = 0.0
    at = np.abs(R).argmax(axis=0)
    r = R[at, np.arange(len(columns))]
    return np.where(r == 0.0, -1, at), r


def _separated(
    P: NDArray[np.float64],
    codes: NDArray[np.intp],
    types: list[str],
    genes: list[str],
    seed: int,
    left_out: list[str],
) -> Labels:
    """Return which labels a panel separates."""
    k = len(types)
    folds = [*StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(P, codes)]
    called, contribution = _call(P, codes, k, folds)
    confusion = np.zeros((k, k))
    for each in called:
        np.add.at(confusion, (codes, each), 0.5)
    confusion /= confusion.sum(axis=1, keepdims=True)
    by_gene = contribution.max(axis=0)
    means = np.stack([P[codes == t].mean(axis=0) for t in range(k)])
    # A low value may indicate a label, too, but no one stains for it.
    contribution[means <= P.mean(axis=0)] = 0.0
    best = np.argsort(-contribution, axis=1, kind="stable")[:, :_CARRIERS]
    return Labels(
        names=types,
        counts=np.bincount(codes),
        f1_neighbors=f1_score(codes, called[0], average=None),
        f1_logistic=f1_score(codes, called[1], average=None),
        confusion=confusion,
        carriers=[
            [genes[j] for j in row if contribution[t, j] > 0.0]
            for t, row in enumerate(best)
        ],
        expendable=[genes[j] for j in _expendable(P, codes, k, folds, called, by_gene)],
        left_out=left_out,
    )


def _call(
    P: NDArray[np.float64], codes: NDArray[np.intp], k: int, folds: Any
) -> tuple[list[NDArray[np.intp]], NDArray[np.float64]]:
    """Return what both models call each sample, and what columns add to each label.

    That is the coefficient of the standardized column times how much higher it is, on
    average, in samples of the label.
    """
    called = [np.empty(len(codes), np.intp) for _ in range(2)]
    contribution = np.zeros((k, P.shape[1]))
    for done, (train, test) in enumerate(folds):
        report("held-out samples", done, len(folds))
        near = KNeighborsClassifier(_NEAREST).fit(P[train], codes[train])
        called[0][test] = near.predict(P[test])
        scale = StandardScaler().fit(P[train])
        Z = scale.transform(P[train])
        model = LogisticRegression(C=_STRENGTH, max_iter=200)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(Z, codes[train])
        called[1][test] = model.predict(scale.transform(P[test]))
        coefficients = model.coef_
        if k == 2:
            coefficients = np.vstack([-coefficients, coefficients])
        means = np.stack([Z[codes[train] == t].mean(axis=0) for t in range(k)])
        contribution += coefficients * means / len(folds)
    return called, contribution


def _expendable(
    P: NDArray[np.float64],
    codes: NDArray[np.intp],
    k: int,
    folds: Any,
    called: list[NDArray[np.intp]],
    by_column: NDArray[np.float64],
) -> NDArray[np.intp]:
    """Return the columns that can be left out together, found by bisection.

    Those come first that add least to any label.
    """

    def scores(called: list[NDArray[np.intp]]) -> NDArray[np.float64]:
        each = [
            [f1_score(codes[test], one[test], average="macro") for one in called]
            for _, test in folds
        ]
        return np.mean(each, axis=1)

    full = scores(called)
    least = full.mean() - full.std(ddof=1) / np.sqrt(len(full))
    order = np.argsort(by_column, kind="stable")
    low, high = 0, len(order) - 1
    while low < high:
        middle = (low + high + 1) // 2
        kept = np.sort(order[middle:])
        again, _ = _call(P[:, kept], codes, k, folds)
        if scores(again).mean() >= least:
            low = middle
        else:
            high = middle - 1
    return order[:low]
