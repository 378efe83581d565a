"""One ranker on one fold of one data set, as it is stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from inspect import signature
from typing import Any, NamedTuple

from franet._common.version import __version__
from franet.exceptions import DataError

# The label of the ranking by chance, with which the others are compared.
RANDOM = "random"

STATES = ("ok", "failed", "timeout", "memory")


class Row(NamedTuple):
    """One measured value.

    Attributes
    ----------
    dataset, folds : str
        The table, and the name of its partition.
    fold : int
        Number of the fold.
    ranker : str
        Its label.
    parameters : str
        Those that are not the defaults, as JSON with sorted keys.
    measure : str
        A name from `MEASURES`.
    n_features : int
        How many of the first features were judged.
    value : float
        What came out.
    """

    dataset: str
    folds: str
    fold: int
    ranker: str
    parameters: str
    measure: str
    n_features: int
    value: float


@dataclass(frozen=True)
class Record:
    """All that was measured of one ranker on one fold.

    Attributes
    ----------
    dataset : str
        Name of the table.
    folds : str
        Name of the partition, such as "paper".
    fold : int
        Number of the fold.
    ranker : str
        Label of the ranker.
    parameters : dict
        Its parameters where they are not the defaults.
    status : {"ok", "failed", "timeout", "memory"}
        Whether it finished, and if not, why.
    reason : str
        What went wrong, in a sentence; "" if nothing.
    values : dict of dict
        By measure and number of features.
    top : list of int
        The first features, best first.
    n_features : int or None
        Number of all features.
    test_share : float or None
        The share of the examples that were in the test part.
    seconds : float or None
        Time of the fit.
    memory : int or None
        Bytes that the fit took.
    warnings : list of str
        What the ranker said of a degenerate ranking.
    machine : dict
        Processor, cores, memory and system of the machine that measured it.
    version : str
        The version of franet that measured it.
    run : str
        Which run of the benchmark measured it; "" outside a run.
    """

    dataset: str
    folds: str
    fold: int
    ranker: str
    parameters: dict[str, Any] = field(default_factory=dict)
    status: str = "ok"
    reason: str = ""
    values: dict[str, dict[int, float]] = field(default_factory=dict)
    top: list[int] = field(default_factory=list)
    n_features: int | None = None
    test_share: float | None = None
    seconds: float | None = None
    memory: int | None = None
    warnings: list[str] = field(default_factory=list)
    machine: dict[str, Any] = field(default_factory=dict)
    version: str = __version__
    run: str = ""

    @property
    def key(self) -> tuple[str, str, int, str, str]:
        """What it is a record of: no two units of work share it."""
        parameters = json.dumps(self.parameters, sort_keys=True)
        return self.dataset, self.folds, self.fold, self.ranker, parameters

    def rows(self) -> Iterator[Row]:
        """Yield every value with all that names it."""
        for measure, values in self.values.items():
            for count, value in values.items():
                yield Row(*self.key, measure, count, value)

    def to_json(self) -> str:
        """Return the record as one line of JSON."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, line: str) -> Record:
        """Return the record that a line of JSON holds.

        Parameters
        ----------
        line : str
            What `to_json` returned.

        Returns
        -------
        record : Record
            Equal to the one that was written.
        """
        try:
            content = json.loads(line)
            content["values"] = {
                measure: {int(count): float(value) for count, value in values.items()}
                for measure, values in content["values"].items()
            }
            record = cls(**content)
            for name, usual in vars(cls("", "", 0, "")).items():
                kind = float | int | None if usual is None else type(usual)
                if not isinstance(getattr(record, name), kind):
                    raise TypeError(name)
            if record.status not in STATES:
                raise ValueError(record.status)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as err:
            raise DataError(f"not a record of a benchmark: {line[:60]!r}") from err
        return record


def changed_parameters(ranker: Any) -> dict[str, Any]:
    """Return the parameters of an estimator that are not its defaults.

    Parameters
    ----------
    ranker : estimator
        Any with ``get_params``.

    Returns
    -------
    parameters : dict
        Fit for JSON: what is no plain value is told by its name.
    """
    known = signature(type(ranker)).parameters
    given = ranker.get_params(deep=False)
    return {
        name: plain(given[name])
        for name in sorted(given)
        if not (name in known and _same(given[name], known[name].default))
    }


def _same(value: Any, default: Any) -> bool:
    # Arrays compare cell by cell: they are no default of anything.
    plain = isinstance(value, bool | int | float | str | tuple)
    same = plain and type(value) is type(default) and bool(value == default)
    return value is default or same


def plain(value: Any) -> Any:
    """Return a value that fits JSON; what is no plain value becomes its name."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return getattr(value, "__qualname__", type(value).__name__)
