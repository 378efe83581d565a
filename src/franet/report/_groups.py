"""Groups of correlated columns as a plain dict, from which a page is made."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from franet._common import checked as kinds
from franet.report._summary import versions
from franet.report._text import number

if TYPE_CHECKING:
    from franet.estimators._prune import CorrelatedColumns

FORMAT = "franet-groups"
VERSION = 1

# Members of a group that are listed.
_MEMBERS = 200
_PRUNED = kinds.Kind(
    "what drop_correlated returned", lambda value: hasattr(value, "groups")
)


@kinds.checked(
    result=_PRUNED,
    title=kinds.optional(kinds.TEXT),
    top=kinds.WHOLE,
    seconds=kinds.optional(kinds.NUMBER),
    warnings=kinds.SEVERAL,
)
def summarize_groups(
    result: CorrelatedColumns,
    *,
    title: str | None = None,
    top: int = 500,
    seconds: float | None = None,
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """Return what a report shows of correlated columns, as a plain dict.

    Parameters
    ----------
    result : CorrelatedColumns
        What `drop_correlated` returned.
    title : str, optional
        What was pruned, such as the name of a file.
    top : int, default=500
        How many groups, the largest first, are listed.
    seconds : float, optional
        How long it took.
    warnings : sequence of str, optional
        What else the reader should know.

    Returns
    -------
    summary : dict
        Fit for JSON, and for `write`. A group has the kept column (``kept``), how many
        others it represents (``count``), and the closest 200 of them (``members``) with
        their correlation (``r``).

    Raises
    ------
    UsageError
        Where `top` is not positive.

    Examples
    --------
    >>> from franet import drop_correlated
    >>> from franet.report import summarize_groups
    >>> X = [[1, 2, 0], [2, 4, 1], [3, 7, 0], [4, 8, 1]]
    >>> summarize_groups(drop_correlated(X))["groups"][0]["members"]
    [{'name': 'x1', 'r': 0.984}]
    """
    kinds.check_value("top", top, top >= 1, "a report lists at least one group.")
    names, groups = result.names, result.groups
    alone = np.setdiff1d(result.kept, [*groups])
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": title or "Correlated columns",
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "n_columns": len(names),
        "n_kept": len(result.kept),
        "n_groups": len(groups),
        "n_alone": len(alone),
        "cutoff": result.cutoff,
        "similarity": result.similarity,
        "symbol": result.symbol,
        "lines": result.lines(),
        "warnings": list(warnings),
        "constant": [names[j] for j in result.constant],
        "groups": [
            {
                "kept": names[k],
                "count": len(members),
                "members": [
                    {"name": names[j], "r": number(result.r[j], 3)}
                    for j in members[:_MEMBERS]
                ],
                "least": number(np.abs(result.r[members]).min(), 3),
            }
            for k, members in [*groups.items()][:top]
        ],
        "versions": versions(),
        "seconds": None if seconds is None else round(seconds, 3),
    }
