"""What an evaluation found: tables, curves, verdicts, and how many features to keep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from franet._common.checked import (
    AXES,
    NUMBER,
    SEED,
    SEVERAL,
    TEXT,
    WHOLE,
    checked,
    optional,
)
from franet._common.table import Table
from franet.evaluation._curve import Curve
from franet.evaluation.measures import MEASURES
from franet.evaluation.records import Record, Row
from franet.evaluation.stability import jaccard, kuncheva, rank_correlation
from franet.exceptions import DataError, UsageError

if TYPE_CHECKING:
    from franet.evaluation._recommend import Recommendation

__all__ = ["Results"]


class Results:
    """All records of an evaluation, of one table or of many.

    Parameters
    ----------
    records : iterable of Record
        Rankers on folds. Where one label stands for several sets of parameters, the
        parameters become part of its name.

    Attributes
    ----------
    records : list of Record
        As given.
    datasets : list of str
        Names of the tables, in the order in which they came.
    rankers : list of str
        Names of the rankers, in the order in which they came.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = list(records)
        self.datasets = list(dict.fromkeys(r.dataset for r in self.records))
        self.rankers = list(dict.fromkeys(self.name_of(r) for r in self.records))

    def __len__(self) -> int:
        return len(self.records)

    def __repr__(self) -> str:
        return (
            f"<Results: {len(self.datasets)} data sets, {len(self.rankers)} rankers, "
            f"{len(self)} records>"
        )

    def __add__(self, other: Results) -> Results:
        return Results([*self.records, *other.records])

    def name_of(self, record: Record) -> str:
        """Return the name of the ranker of a record."""
        if len(self._parameters[record.ranker]) == 1:
            return record.ranker
        return f"{record.ranker} {record.key[-1]}"

    def rows(self) -> Iterator[Row]:
        """Yield every measured value with all that names it."""
        for record in self.records:
            yield from record.rows()

    def to_pandas(self) -> Any:
        """Return every measured value as a row of a pandas data frame."""
        return Table(list(Row._fields), [list(row) for row in self.rows()]).to_pandas()

    def of(self, dataset: str, ranker: str) -> list[Record]:
        """Return the finished records of a ranker on a table, by fold.

        Parameters
        ----------
        dataset : str
            One of `datasets`.
        ranker : str
            One of `rankers`.

        Returns
        -------
        records : list of Record
            None at all where a fold failed or is not done yet: means over different
            folds cannot be compared.
        """
        _known("dataset", dataset, self.datasets)
        _known("ranker", ranker, self.rankers)
        records = self._index.get((dataset, ranker), [])
        whole = len(records) == len(self._folds[dataset])
        return records if whole else []

    def has(self, dataset: str, ranker: str, measure: str = "rmae") -> bool:
        """Return whether a ranker finished every fold of a table with this measure."""
        records = self.of(dataset, ranker)
        return bool(records) and all(r.values.get(measure) for r in records)

    @checked(ranker=TEXT, dataset=optional(TEXT), measure=TEXT)
    def curve(
        self, ranker: str, dataset: str | None = None, measure: str = "rmae"
    ) -> Curve:
        """Return a measure of a ranker at every number of features, fold by fold.

        Parameters
        ----------
        ranker : str
            One of `rankers`.
        dataset : str, optional
            One of `datasets`; may be left out if there is only one.
        measure : str, default="rmae"
            A name from `franet.evaluation.MEASURES`.

        Returns
        -------
        curve : Curve
            Its counts and values.
        """
        dataset = self._one(dataset)
        records = self.of(dataset, ranker)
        if not self.has(dataset, ranker, measure):
            raise DataError(
                f"{measure!r} of {ranker!r} on {dataset!r} is not measured on all folds"
            )
        found = [r.values[measure] for r in records]
        counts = sorted(set.intersection(*(set(values) for values in found)))
        return Curve(
            np.array(counts, np.intp),
            np.array([[values[k] for k in counts] for values in found]),
        )

    def values(
        self, dataset: str, ranker: str, at: int = 16, measure: str = "rmae"
    ) -> NDArray[np.float64]:
        """Return a measure at a number of features, fold by fold.

        Parameters
        ----------
        dataset : str
            One of `datasets`.
        ranker : str
            One of `rankers`.
        at : int, default=16
            Number of features; all of them where the table has fewer.
        measure : str, default="rmae"
            A name from `franet.evaluation.MEASURES`.

        Returns
        -------
        values : ndarray of shape (n_folds,)
            In the order of the folds.
        """
        curve = self.curve(ranker, dataset, measure)
        place = np.flatnonzero(curve.counts == min(at, curve.counts[-1]))
        if not len(place):
            raise UsageError(
                f"at={at}: {measure!r} was measured at "
                f"{', '.join(map(str, curve.counts))} features"
            )
        return curve.values[:, place[0]]

    @checked(ranker=TEXT, at=WHOLE, measure=TEXT)
    def scores(
        self, ranker: str, *, at: int = 16, measure: str = "rmae"
    ) -> dict[str, NDArray[np.float64]]:
        """Return a measure of a ranker on every table, fold by fold.

        Parameters
        ----------
        ranker : str
            One of `rankers`.
        at : int, default=16
            Number of features.
        measure : str, default="rmae"
            A name from `franet.evaluation.MEASURES`.

        Returns
        -------
        scores : dict of ndarray
            By table; those without a value are left out. `compare` takes two of them.
        """
        return {
            dataset: self.values(dataset, ranker, at, measure)
            for dataset in self.datasets
            if self.has(dataset, ranker, measure)
        }

    @checked(at=WHOLE, measure=TEXT, dataset=optional(TEXT))
    def table(
        self, at: int = 16, measure: str = "rmae", dataset: str | None = None
    ) -> Table:
        """Return a measure at a number of features, for every ranker.

        Parameters
        ----------
        at : int, default=16
            Number of features.
        measure : str, default="rmae"
            A name from `franet.evaluation.MEASURES`.
        dataset : str, optional
            One table in detail; without it, and with several tables, a row for each.

        Returns
        -------
        table : Table
            It prints itself.
        """
        from franet.evaluation._tables import one_table, table_of_sets

        _known("measure", measure, MEASURES)
        if dataset is None and len(self.datasets) > 1:
            return table_of_sets(self, at, measure)
        return one_table(self, self._one(dataset), at, measure)

    @checked(ranker=TEXT, at=WHOLE, dataset=optional(TEXT))
    def stability(
        self, ranker: str, at: int = 16, dataset: str | None = None
    ) -> dict[str, float]:
        """Return how well the rankings of the folds agree.

        Parameters
        ----------
        ranker : str
            One of `rankers`.
        at : int, default=16
            Number of features that are selected, at most 256.
        dataset : str, optional
            One of `datasets`; may be left out if there is only one.

        Returns
        -------
        stability : dict of float
            ``"kuncheva"``, ``"jaccard"``, ``"rank_correlation"``.
        """
        records = [r for r in self.of(self._one(dataset), ranker) if r.top]
        if len(records) < 2:
            raise DataError(f"{ranker!r}: stability needs at least two folds")
        tops = [r.top for r in records]
        if at > min(map(len, tops)):
            raise UsageError(f"at={at}: {min(map(len, tops))} features are kept a fold")
        n = records[0].n_features
        if n is None:
            raise DataError(
                f"{ranker!r}: the records do not say the number of features"
            )
        first = [top[:at] for top in tops]
        return {
            "kuncheva": kuncheva(first, n),
            "jaccard": jaccard(first),
            "rank_correlation": rank_correlation(tops, n),
        }

    @checked(
        at=WHOLE,
        measure=TEXT,
        dataset=optional(TEXT),
        rope=NUMBER,
        rankers=optional(SEVERAL),
    )
    def verdicts(
        self,
        at: int = 16,
        measure: str = "rmae",
        dataset: str | None = None,
        rope: float = 0.001,
        rankers: Iterable[str] | None = None,
    ) -> dict[str, str]:
        """Return for each ranker whether it is better than random columns.

        Parameters
        ----------
        at : int, default=16
            Number of features.
        measure : str, default="rmae"
            A name from `franet.evaluation.MEASURES`.
        dataset : str, optional
            One of `datasets`; may be left out if there is only one.
        rope : float, default=0.001
            Differences up to this count as none.
        rankers : iterable of str, optional
            Some of `rankers`; by default all that were measured.

        Returns
        -------
        verdicts : dict of str
            ``"better than random"``, ``"no better than random"`` or ``"worse than
            random"``; the first and the last where the Bayesian correlated t-test
            over the folds gives it a probability of at least 95 %.
        """
        from franet.evaluation._verdict import verdicts

        wanted = self.rankers if rankers is None else rankers
        return verdicts(self, self._one(dataset), at, measure, rope, wanted)

    @checked(
        ranker=optional(TEXT),
        tolerance=NUMBER,
        measure=TEXT,
        dataset=optional(TEXT),
        random_state=SEED,
    )
    def recommend(
        self,
        ranker: str | None = None,
        *,
        tolerance: float = 0.01,
        measure: str = "rmae",
        dataset: str | None = None,
        random_state: int = 0,
    ) -> Recommendation:
        """Return the smallest number of features that is nearly as good as any.

        Parameters
        ----------
        ranker : str, optional
            The ranker to use; without it the one that needs the fewest features.
        tolerance : float, default=0.01
            How much worse than the best value of any ranker, or of this one if it is
            given, is near enough.
        measure : str, default="rmae"
            A name from `franet.evaluation.MEASURES`.
        dataset : str, optional
            One of `datasets`; may be left out if there is only one.
        random_state : int, default=0
            Seed of the bootstrap over the folds.

        Returns
        -------
        recommendation : Recommendation
            Ranker, number of features with its interval, and what chance does.
        """
        from franet.evaluation._recommend import recommend

        _known("measure", measure, MEASURES)
        return recommend(
            self, self._one(dataset), ranker, measure, tolerance, random_state
        )

    @checked(dataset=optional(TEXT), measure=TEXT, ax=optional(AXES))
    def plot_curves(
        self, dataset: str | None = None, *, measure: str = "rmae", ax: Any = None
    ) -> Any:
        """Draw a measure of every ranker as the number of features grows.

        Parameters
        ----------
        dataset : str, optional
            One of `datasets`; may be left out if there is only one.
        measure : str, default="rmae"
            A name from `franet.evaluation.MEASURES`.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
            With the picture.
        """
        from franet.plotting import plot_curves

        return plot_curves(self, dataset, measure=measure, ax=ax)

    def _one(self, dataset: str | None) -> str:
        if dataset is not None:
            _known("dataset", dataset, self.datasets)
            return dataset
        if len(self.datasets) != 1:
            raise UsageError(
                f"dataset: there are {len(self.datasets)} tables; name one of them"
            )
        return self.datasets[0]

    @cached_property
    def _parameters(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for record in self.records:
            found.setdefault(record.ranker, set()).add(record.key[-1])
        return found

    @cached_property
    def _folds(self) -> dict[str, set[tuple[str, int]]]:
        found: dict[str, set[tuple[str, int]]] = {}
        for record in self.records:
            found.setdefault(record.dataset, set()).add((record.folds, record.fold))
        return found

    @cached_property
    def _index(self) -> dict[tuple[str, str], list[Record]]:
        found: dict[tuple[str, str], list[Record]] = {}
        for record in sorted(self.records, key=lambda r: r.fold):
            if record.status == "ok":
                key = (record.dataset, self.name_of(record))
                found.setdefault(key, []).append(record)
        return found


def _known(what: str, name: str, names: Iterable[str]) -> None:
    if name not in names:
        raise UsageError(f"{what}={name!r}: choose one of {', '.join(names)}")
