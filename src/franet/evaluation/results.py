"""What an evaluation found: tables, curves, verdicts, and how many features to keep."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from franet._common import checked as kinds
from franet._common.joints import connected
from franet._common.sentences import UNDECIDED
from franet._common.table import TextTable
from franet.evaluation.measures import MEASURES
from franet.evaluation.records import RANDOM, Record, Row
from franet.evaluation.stability import jaccard, kuncheva, rank_correlation
from franet.exceptions import DataError, UsageError

if TYPE_CHECKING:
    from franet.evaluation._summaries import Recommendation
    from franet.evaluation.statistics import Comparison, Regions

BETTER = "better than random"
_EQUAL = "no better than random"
_WORSE = "worse than random"
_SURE = 0.95
# A difference that does not matter: what is this close to the best is near enough.
NEAR = 0.01
# Measures in the units of what is ranked, the plainest first: the first one that was
# measured is shown where none is named.
_SHOWN = ("r2", "rmae_scaled", "rmae_shared", "rmae")
_AT = 16

# The parameters of all methods: each has some of them.
_checked = kinds.checked(
    ranker=kinds.optional(kinds.TEXT),
    dataset=kinds.optional(kinds.TEXT),
    measure=kinds.optional(kinds.TEXT),
    at=kinds.optional(kinds.WHOLE),
    rope=kinds.NUMBER,
    rankers=kinds.optional(kinds.SEVERAL),
    tolerance=kinds.optional(kinds.NUMBER),
    random_state=kinds.SEED,
    ax=kinds.optional(kinds.AXES),
)


@dataclass(frozen=True)
class Curve:
    """A measure as the number of features grows.

    Attributes
    ----------
    counts : ndarray of int
        Numbers of features.
    values : ndarray of shape (n_folds, n_counts)
        Fold by fold.
    """

    counts: NDArray[np.intp]
    values: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean over the folds."""
        return self.values.mean(axis=0)

    @property
    def error(self) -> NDArray[np.float64]:
        """The standard error of the mean; 0 where there is one fold.

        The training parts of folds overlap, so the true error is larger.
        """
        n_folds = len(self.values)
        if n_folds < 2:
            return np.zeros(self.values.shape[1])
        return self.values.std(axis=0, ddof=1) / np.sqrt(n_folds)


class Results:
    """All records of an evaluation, of one table or of many.

    Parameters
    ----------
    records : iterable of Record
        Rankers on folds. Where one label stands for several sets of parameters, the
        parameters become part of its name.
    suggested : mapping of str to (str, int), optional
        By table, the ranker that suggests a number of features, and that number.

    Attributes
    ----------
    records : list of Record
        As given.
    suggested : dict of str to (str, int)
        As given.
    datasets : list of str
        Names of the tables, in the order in which they came.
    rankers : list of str
        Names of the rankers, in the order in which they came.
    """

    def __init__(
        self,
        records: Iterable[Record],
        suggested: Mapping[str, tuple[str, int]] | None = None,
    ) -> None:
        self.records = list(records)
        self.suggested = dict(suggested or {})
        # Parameters by label, and folds by table.
        self._parameters, self._folds = defaultdict(set), defaultdict(set)
        for record in self.records:
            self._parameters[record.ranker].add(record.key[-1])
            self._folds[record.dataset].add((record.folds, record.fold))
        self.datasets = list(dict.fromkeys(r.dataset for r in self.records))
        self.rankers = list(dict.fromkeys(self.name_of(r) for r in self.records))
        self._done: dict[tuple[str, str], list[Record]] = defaultdict(list)
        for record in sorted(self.records, key=lambda r: r.fold):
            if record.status == "ok":
                self._done[record.dataset, self.name_of(record)].append(record)

    def __len__(self) -> int:
        return len(self.records)

    def __repr__(self) -> str:
        return (
            f"<Results: {len(self.datasets)} data sets, {len(self.rankers)} rankers, "
            f"{len(self)} records>"
        )

    def __add__(self, other: Results) -> Results:
        records = [*self.records, *other.records]
        return Results(records, self.suggested | other.suggested)

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
        rows = [list(row) for row in self.rows()]
        return TextTable(list(Row._fields), rows).to_pandas()

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
        records = self._done[dataset, ranker]
        return records if len(records) == len(self._folds[dataset]) else []

    def has(self, dataset: str, ranker: str, measure: str = "rmae") -> bool:
        """Return whether a ranker finished every fold of a table with this measure."""
        records = self.of(dataset, ranker)
        return bool(records) and all(r.values.get(measure) for r in records)

    @_checked
    def curve(
        self, ranker: str, dataset: str | None = None, measure: str | None = None
    ) -> Curve:
        """Return a measure of a ranker at every number of features, fold by fold.

        Parameters
        ----------
        ranker : str
            One of `rankers`.
        dataset : str, optional
            One of `datasets`; may be left out if there is only one.
        measure : str, optional
            A name from `franet.evaluation.MEASURES`; see `measure`.

        Returns
        -------
        curve : Curve
            Its counts and values.
        """
        dataset, measure = self._one(dataset), self.measure(measure)
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
        measure : str, optional
            A name from `franet.evaluation.MEASURES`; see `measure`.

        Returns
        -------
        values : ndarray of shape (n_folds,)
            In the order of the folds.
        """
        curve = self.curve(ranker, dataset, measure)
        place = np.flatnonzero(curve.counts == min(at, curve.counts[-1]))
        there = ", ".join(map(str, curve.counts))
        remedy = f"{measure!r} was measured at {there} features"
        kinds.check_value("at", at, len(place) > 0, remedy)
        return curve.values[:, place[0]]

    @_checked
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

    @_checked
    def table(
        self,
        at: int | None = None,
        measure: str | None = None,
        dataset: str | None = None,
    ) -> TextTable:
        """Return a measure at a number of features, for every ranker.

        Parameters
        ----------
        at : int, optional
            Number of features; by default that which a ranker suggests, or 16.
        measure : str, optional
            A name from `franet.evaluation.MEASURES`; see `measure`.
        dataset : str, optional
            One table in detail; without it, and with several tables, a row for each.

        Returns
        -------
        table : TextTable
            It prints itself.
        """
        from franet.evaluation._summaries import one_table, table_of_sets

        measure = self.measure(measure)
        if dataset is None and len(self.datasets) > 1:
            return table_of_sets(self, _AT if at is None else at, measure)
        dataset = self._one(dataset)
        return one_table(self, dataset, self._count(at, dataset), measure)

    @_checked
    def lead(self, measure: str | None = None, dataset: str | None = None) -> TextTable:
        """Return which ranker is best at which number of features, and how surely.

        Parameters
        ----------
        measure : str, optional
            A name from `franet.evaluation.MEASURES`; by default all that were measured.
        dataset : str, optional
            One of `datasets`; may be left out if there is only one.

        Returns
        -------
        table : TextTable
            A row for each measure and number of features: the best ranker, the second
            best, and by how much the first leads, with its 95 % interval over the
            folds. In words below the table.
        """
        from franet.evaluation._summaries import lead

        dataset = self._one(dataset)
        measured = {name for r in self.records for name in r.values}
        names = [name for name in MEASURES if name in measured]
        return lead(
            self, dataset, names if measure is None else [self.measure(measure)]
        )

    @_checked
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
        records = self.of(self._one(dataset), ranker)
        found = [(r.top, r.n_features) for r in records if r.top and r.n_features]
        if len(found) < 2:
            raise DataError(f"{ranker!r}: stability needs at least two folds")
        tops, n = [top for top, _ in found], found[0][1]
        kept = min(map(len, tops))
        kinds.check_value("at", at, at <= kept, f"{kept} features are kept a fold")
        first = [top[:at] for top in tops]
        return {
            "kuncheva": kuncheva(first, n),
            "jaccard": jaccard(first),
            "rank_correlation": rank_correlation(tops, n),
        }

    @_checked
    def verdicts(
        self,
        at: int | None = None,
        measure: str | None = None,
        dataset: str | None = None,
        rope: float = 0.001,
        rankers: Iterable[str] | None = None,
    ) -> dict[str, str]:
        """Return for each ranker whether it is better than random columns.

        Parameters
        ----------
        at : int, optional
            Number of features; by default that which a ranker suggests, or 16.
        measure : str, optional
            What is compared, as in `table`.
        dataset : str, optional
            One of `datasets`; may be left out if there is only one.
        rope : float, default=0.001
            Differences up to this count as none.
        rankers : iterable of str, optional
            Some of `rankers`; by default all that were measured.

        Returns
        -------
        verdicts : dict of str
            ``"better than random"`` or ``"worse than random"`` where the Bayesian
            correlated t-test over the folds gives it a probability of at least 95 %;
            ``"no better than random"`` where the test gives it a probability of at most
            5 % to be better by more than 0.01 (or `rope`), at every number of features
            that was judged; otherwise ``"undecided"``. A list of columns that has fewer
            is judged by all it has.
        """
        if RANDOM not in self.rankers:
            raise UsageError("There is no ranking by chance in these results")
        dataset, measure = self._one(dataset), self.measure(measure)
        at = self._count(at, dataset)
        chance = self.curve(RANDOM, dataset, measure).counts
        found = {}
        for ranker in self.rankers if rankers is None else rankers:
            if ranker == RANDOM or not self.has(dataset, ranker, measure):
                continue
            counts = self.curve(ranker, dataset, measure).counts
            k = min(at, int(counts[-1]))
            p = self._against_random(dataset, ranker, k, measure, rope)
            if p is None:  # one fold proves nothing
                found[ranker] = UNDECIDED
            elif max(p.first, p.second) >= _SURE:
                found[ranker] = BETTER if p.first >= _SURE else _WORSE
            else:
                judged = np.intersect1d(counts, chance).tolist()
                near = max(rope, NEAR)
                tested = (
                    self._against_random(dataset, ranker, j, measure, near)
                    for j in judged
                )
                is_never = all(q is not None and q.first <= 1 - _SURE for q in tested)
                found[ranker] = _EQUAL if is_never else UNDECIDED
        return found

    def _against_random(
        self, dataset: str, ranker: str, at: int, measure: str, rope: float
    ) -> Regions | None:
        """Return how probable it is that a ranker is better; None with one fold."""
        from franet.evaluation.statistics import correlated_t_test

        values = self.values(dataset, ranker, at, measure)
        if len(values) < 2:
            return None
        return correlated_t_test(
            values,
            self.values(dataset, RANDOM, at, measure),
            rope=rope,
            rho=self.overlap(dataset, ranker),
            lower_is_better=MEASURES[measure].lower_is_better,
        )

    def overlap(self, dataset: str, ranker: str) -> float | None:
        """Return the correlation of folds: the share of samples in a test part.

        Parameters
        ----------
        dataset : str
            One of `datasets`.
        ranker : str
            One of `rankers`.

        Returns
        -------
        share : float or None
            None if it was not written down.
        """
        records = self.of(dataset, ranker)
        shares = [r.test_share for r in records if r.test_share is not None]
        return float(np.mean(shares)) if shares else None

    def measure(self, name: str | None = None) -> str:
        """Return a measure by its name; if None, the one that is shown by default.

        Parameters
        ----------
        name : str, optional
            A name from `franet.evaluation.MEASURES`.

        Returns
        -------
        name : str
            ``"r2"`` where it was measured, otherwise the first of ``"rmae_scaled"``,
            ``"rmae_shared"`` and ``"rmae"`` that was, otherwise any.
        """
        if name is not None:
            _known("measure", name, MEASURES)
            return name
        measured = {name for r in self.records for name in r.values}
        known = [name for name in (*_SHOWN, *MEASURES) if name in measured]
        return known[0] if known else "rmae"

    def _count(self, at: int | None, dataset: str) -> int:
        """Return at how many features results are shown."""
        if at is not None:
            return at
        return self.suggested[dataset][1] if dataset in self.suggested else _AT

    @_checked
    def recommend(
        self,
        ranker: str | None = None,
        *,
        tolerance: float | None = None,
        measure: str | None = None,
        dataset: str | None = None,
        random_state: int = 0,
    ) -> Recommendation:
        """Return a ranker and a number of features, by one measure.

        Parameters
        ----------
        ranker : str, optional
            The ranker to use; without it the best one at the suggested number, or the
            one that needs the fewest features.
        tolerance : float, optional
            How much worse than the best value of any ranker, or of this one if it is
            given, is near enough: the smallest such number of features is recommended.
            By default it is the number that a ranker suggests (`suggested`); without a
            suggestion, and for a measure for which that number was not judged, 0.01.
        measure : str, optional
            A name from `franet.evaluation.MEASURES`; see `measure`.
        dataset : str, optional
            One of `datasets`; may be left out if there is only one.
        random_state : int, default=0
            Seed of the bootstrap over the folds.

        Returns
        -------
        recommendation : Recommendation
            Ranker, number of features with its interval, and what chance does.
        """
        from franet.evaluation._summaries import recommend

        return recommend(
            self,
            self._one(dataset),
            ranker,
            self.measure(measure),
            tolerance,
            random_state,
        )

    @_checked
    def plot_curves(
        self, dataset: str | None = None, *, measure: str | None = None, ax: Any = None
    ) -> Any:
        """Draw a measure of every ranker as the number of features grows.

        Parameters
        ----------
        dataset : str, optional
            One of `datasets`; may be left out if there is only one.
        measure : str, optional
            A name from `franet.evaluation.MEASURES`; see `measure`.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        ax : matplotlib axes
            With the picture.
        """
        draw = connected("plotting").plot_curves
        return draw(self, dataset, measure=self.measure(measure), ax=ax)

    def _one(self, dataset: str | None) -> str:
        if dataset is None:
            remedy = f"there are {len(self.datasets)} tables; name one of them"
            kinds.check_value("dataset", ..., len(self.datasets) == 1, remedy)
            return self.datasets[0]
        _known("dataset", dataset, self.datasets)
        return dataset


def compare(
    results_a: Mapping[str, Any],
    results_b: Mapping[str, Any],
    *,
    rope: float = 0.001,
    lower_is_better: bool = True,
    random_state: int = 0,
    **options: Any,
) -> Comparison:
    """Return how probable it is that one ranker is better on the next data set.

    The hierarchical Bayesian correlated t-test over data sets and folds.

    Parameters
    ----------
    results_a, results_b : mapping of str to array-like
        Values of the first and the second ranker, fold by fold, by data set:
        what `Results.scores` returns. Both must have the same data sets and folds.
    rope : float, default=0.001
        Differences up to this count as none.
    lower_is_better : bool, default=True
        Whether small values are good.
    random_state : int, default=0
        Seed of the sampler.
    **options
        More arguments of `franet.evaluation.statistics.hierarchical`.

    Returns
    -------
    comparison : Comparison
        Probabilities, draws, and how well the sampler converged.

    Examples
    --------
    >>> import numpy as np
    >>> from franet.evaluation import compare
    >>> noise = np.random.default_rng(0).normal(0, 0.01, (12, 10))
    >>> a = {f"set {i}": 0.5 + row for i, row in enumerate(noise)}
    >>> b = {name: row[::-1] + 0.1 for name, row in a.items()}
    >>> compare(a, b).p_first > 0.99
    True
    """
    from franet.evaluation.statistics import hierarchical

    for name, given in (("results_a", results_a), ("results_b", results_b)):
        remedy = "give values by data set, as Results.scores returns them"
        kinds.check_value(name, ..., isinstance(given, Mapping), remedy)
    odd = sorted(set(results_a) ^ set(results_b))
    if odd:
        raise UsageError(f"Only one of the two has: {', '.join(odd)}. Leave those out.")
    for name in results_a:
        if len(results_a[name]) != len(results_b[name]):
            raise UsageError(f"{name}: the two have different numbers of folds")
    return hierarchical(
        [results_a[name] for name in results_a],
        [results_b[name] for name in results_a],
        rope=rope,
        lower_is_better=lower_is_better,
        random_state=random_state,
        **options,
    )


def _known(what: str, name: str, names: Iterable[str]) -> None:
    kinds.check_value(what, name, name in names, f"choose one of {', '.join(names)}")
