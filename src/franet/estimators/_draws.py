"""Rankings of half-samples of a table, on several threads."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from contextvars import Context, copy_context
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from threadpoolctl import ThreadpoolController

from franet._common.memory import available_bytes
from franet._common.progress import listening, report
from franet._common.threads import on_threads
from franet.cover._constraints import PARAMETERS, by_position
from franet.cover._order import order_by_values
from franet.estimators._validation import how_many, names_of
from franet.exceptions import DataError, DegenerateRankingWarning
from franet.pairs.coded import CodedTable

# Samples that two halves need.
FEWEST = 4
# Seconds that fits under way are waited for after Ctrl-C.
_PATIENCE = 0.5
# What FRANe stores for more features does not grow with their square.
_MOST_PAIRS = 27_000_000
# What a random number is for: each draw has a stream for each.
_ROWS, _COLUMNS, _RANKER, _VALUES = range(4)


class _Stopped(BaseException):
    """Ends a fit whose result nobody waits for."""


class Draws:
    """Rankings of half-samples: draws 0 and 1, 2 and 3, … are both halves of a table.

    Which samples are drawn depends on what they hold, not on their order. A draw has
    its columns in random order: features of equal scores, which rankers order by
    column, then change places from draw to draw.

    Parameters
    ----------
    ranker : FeatureRanker
        Copies of it rank; one with a ``random_state`` has another seed in each draw.
    X : ndarray, CSR array or CodedTable of shape (m, n)
        The checked table.
    n_halves : int
        Number of draws.
    seed : int or None
        The seed of all draws.
    permuted : bool, default=False
        Whether both halves are those of a table whose columns are permuted, each by
        itself: another such table for each two draws.

    Attributes
    ----------
    ranks : ndarray of shape (n_halves, n)
        After `run`: unsigned integers of the size that n needs.
    """

    def __init__(
        self,
        ranker: Any,
        X: Any,
        n_halves: int,
        seed: int | None,
        *,
        permuted: bool = False,
    ) -> None:
        self._ranker, self._X, self._permuted = ranker, X, permuted
        self._stage = "draws of permuted columns" if permuted else "draws"
        self._entropy = np.random.SeedSequence(seed).entropy
        self._order = _content_order(X)
        self._options: dict[str, Any] = {}
        self._controller = ThreadpoolController()
        self._blas: Any = None
        self._quiet = _Quiet()
        self._stop = self._left = False
        n = X.shape[1]
        self.ranks = np.zeros((n_halves, n), np.min_scalar_type(n))

    def run(self, n_threads: int) -> int:
        """Rank all draws; return how many of the rankings are degenerate."""
        n_halves = len(self.ranks)
        n_workers = min(n_threads, n_halves, _fits_at_once(self._X, self._ranker))
        known = self._ranker.get_params(deep=False)
        # A checkpoint is of the whole table, and for one fit at a time.
        wanted = {
            "n_jobs": n_threads // n_workers,
            "store_candidates": False,
            "checkpoint": None,
        }
        self._options = {name: wanted[name] for name in wanted if name in known}
        done = self._alone() if n_workers == 1 else self._crew(n_workers)
        # BLAS rounds by the number of its threads, so it has one, however many draws
        # there are at once. It is set here: threadpoolctl lets one thread set it.
        self._blas = self._limit("blas")
        try:
            with self._quiet as caught, closing(done):
                for count in done:
                    report(self._stage, count, n_halves)
        finally:
            self._left = True
            self._blas.restore_original_limits()
        return min(len(caught), n_halves)

    def _alone(self) -> Generator[int]:
        with self._limit("openmp"):
            for draw in range(len(self.ranks)):
                self._rank(draw)
                yield draw + 1

    def _crew(self, n_workers: int) -> Generator[int]:
        """Rank on several threads.

        On leaving early, a fit ends when it next reports. One that does not is left
        alone after a while.
        """

        @contextmanager
        def around() -> Iterator[None]:
            try:
                # The setting of OpenMP is the thread's own.
                with self._limit("openmp"):
                    yield
            finally:
                self._clean()

        def rank(context: Context, draw: int) -> None:
            context.run(self._rank, draw)

        with on_threads(rank, n_workers, around, _PATIENCE) as (send, receive):
            try:
                for draw in range(len(self.ranks)):
                    send(draw, copy_context(), draw)
                for count in range(len(self.ranks)):
                    receive()
                    yield count + 1
            finally:
                self._stop = True

    def _limit(self, library: str) -> Any:
        return self._controller.limit(limits=1, user_api=library)

    def _clean(self) -> None:
        """Undo what a fit that nobody waited for may have put back."""
        if self._left:
            self._blas.restore_original_limits()
            self._quiet.end()

    def _rank(self, draw: int) -> None:
        columns = self._random(draw, _COLUMNS).permutation(self._X.shape[1])
        fresh = clone(self._ranker).set_params(
            **self._options, **_as_many(self._ranker), **_moved(self._ranker, columns)
        )
        fresh._for_order = True
        if "random_state" in fresh.get_params(deep=False):
            seed = int(self._random(draw, _RANKER).integers(2**31))
            fresh.set_params(random_state=seed)
        try:
            with listening(self._heed):
                fresh.fit(self._half(draw, columns))
        except ValueError as error:
            raise DataError(
                f"Draw {draw + 1} of {len(self.ranks)} cannot be ranked, although the "
                f"table can: {error} Another random_state may do."
            ) from error
        self.ranks[draw, columns] = fresh.ranking_

    def _heed(self, stage: str, done: int, total: int) -> None:
        if self._stop:
            raise _Stopped

    def _rows(self, draw: int) -> NDArray[np.intp]:
        """Return positions in the order by content."""
        m = self._X.shape[0]
        rows = self._random(draw // 2, _ROWS).permutation(m)
        return rows[: m // 2] if draw % 2 == 0 else rows[m // 2 : 2 * (m // 2)]

    def _random(self, number: int, purpose: int) -> np.random.Generator:
        seeds = np.random.SeedSequence(self._entropy, spawn_key=(number, purpose))
        return np.random.default_rng(seeds)

    def table(self, draw: int) -> Any:
        """Return the table of which a draw is a half; if permuted, a new one."""
        if not self._permuted:
            return self._X
        return _permute(self._X[self._order], self._random(draw // 2, _VALUES))

    def _half(self, draw: int, columns: NDArray[np.intp]) -> Any:
        table, rows = self.table(draw), self._rows(draw)
        if not self._permuted:  # whose samples are in order by content
            rows = self._order[rows]
        if sparse.issparse(table):
            return table[rows][:, columns]
        return table[np.ix_(rows, columns)]


class _DenseRows:
    """A sparse table, of which some rows at a time are made dense."""

    def __init__(self, X: Any) -> None:
        self.shape, self._X = X.shape, X

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        return np.asarray(self._X[rows].toarray())


def _content_order(X: Any) -> NDArray[np.intp]:
    """Return the samples in an order that depends on what they hold alone."""
    if isinstance(X, CodedTable):
        # Levels are numbered as they appear, which the order of samples decides.
        values = X.values.copy()
        for j, levels in enumerate(X.levels):
            if levels is not None:
                place = np.argsort(np.argsort([str(level) for level in levels]))
                known = np.isfinite(values[:, j])
                values[known, j] = place[values[known, j].astype(np.intp)]
        return order_by_values(values)
    rows: Any = _DenseRows(X) if sparse.issparse(X) else X
    return order_by_values(rows)


def _permute(X: Any, random: np.random.Generator) -> Any:
    """Return a table whose columns are permuted, each by itself; X may be changed."""
    if isinstance(X, CodedTable):
        return replace(X, values=_permute(X.values, random))
    m, n = X.shape
    if sparse.issparse(X):
        X = X.tocsc()
        for j in range(n):
            entries = slice(X.indptr[j], X.indptr[j + 1])
            X.indices[entries] = random.permutation(m)[X.indices[entries]]
        X.has_sorted_indices = False
        return X.tocsr()
    for j in range(n):
        # Where each value goes, as for a sparse table.
        X[random.permutation(m), j] = X[:, j].copy()
    return X


def _as_many(ranker: Any) -> dict[str, Any]:
    """Return parameters by which as many are picked, though fewer may be selected.

    Columns may be constant in a draw: the number that is selected may not be there.
    """
    known = ranker.get_params(deep=False)
    if "n_ranked" not in known or known["n_features_to_select"] is None:
        return {}
    # A draw has nothing to suggest.
    asked = None if known["n_ranked"] == "auto" else known["n_ranked"]
    n_ranked = how_many(asked, ranker.n_features_, ranker.n_features_in_)
    return {"n_features_to_select": None, "n_ranked": n_ranked}


def _moved(ranker: Any, columns: NDArray[np.intp]) -> dict[str, Any]:
    """Return the parameters that speak of features, for columns in another order."""
    given: dict[str, Any] = {
        name: value
        for name in PARAMETERS
        if (value := getattr(ranker, name, None)) is not None
        and not isinstance(value, str)
    }
    if not given:
        return {}
    place = np.argsort(columns)
    moved: dict[str, Any] = {}
    for name, value in (given | by_position(given, names_of(ranker))).items():
        if isinstance(value, dict):
            moved[name] = {int(place[j]): v for j, v in value.items()}
        elif name in ("include", "exclude"):
            moved[name] = [int(place[j]) for j in value]
        else:
            moved[name] = np.asarray(value)[columns]
    return moved


def _fits_at_once(X: Any, ranker: Any) -> int:
    """Return for how many fits at a time half of the free memory will do."""
    if getattr(ranker, "max_memory", None) is not None:
        return 1  # what it allows is for one
    m, n = X.shape
    # Four tables, four squares of the features, and what FRANe counts for each.
    one = 32 * (m * n + min(n * n, _MOST_PAIRS)) + 3000 * n
    return max(1, available_bytes() // 2 // one)


class _Quiet:
    """Collects what rankers say of degenerate rankings; a fit says it once at most."""

    def __init__(self) -> None:
        self._catcher = warnings.catch_warnings(record=True)
        self._mark: Any = None

    def __enter__(self) -> list[warnings.WarningMessage]:
        caught = self._catcher.__enter__()
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", DegenerateRankingWarning)
        self._mark = warnings.filters[0]
        return caught

    def __exit__(self, *_: object) -> None:
        self._catcher.__exit__(None, None, None)

    def end(self) -> None:
        """Leave again, if the filters of the block are back."""
        if any(each is self._mark for each in warnings.filters):
            self._catcher.__exit__(None, None, None)
