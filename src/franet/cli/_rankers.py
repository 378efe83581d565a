"""Which ranker the options of the command line stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import click
from click.core import ParameterSource

from franet.cli._options import AUTO, CORRELATIONS
from franet.exceptions import UsageError

__all__ = ["choose_ranker", "largest_to_load", "parameters_of"]

# FRANe in its two forms: picks that do not repeat each other, and the paper's ranking.
_COVER, _PAPER = "cover", "frane"
# Options that any ranker may have, and the parameters they set.
_SHARED = {"seed": "random_state", "n_jobs": "n_jobs"}
# Options that only one form has; some more have values that only the paper's has.
_COVER_ONLY = ("include", "exclude", "cost", "groups")
_PAPER_ONLY = (
    "p", "thresholds", "n_thresholds", "min_mean_degree", "damping", "unweighted",
    "centrality", "quality", "variant", "tie_break", "max_memory", "search",
    "scheduler", "checkpoint",
)  # fmt: skip
# Options that both forms have, and no other ranker.
_PLACE = ("backend", "device")
# Options that only FRANe has.
_FRANE_ONLY = (
    "redundancy", "similarity", "missing", "dry_run", *_PLACE, *_COVER_ONLY,
    *_PAPER_ONLY,
)  # fmt: skip


def choose_ranker(ctx: click.Context) -> tuple[str, str]:
    """Return which ranker is asked for, and by which option.

    Parameters
    ----------
    ctx : click.Context
        The command, with its options.

    Returns
    -------
    ranker : str
        A name that `franet.rankers.get` knows; ``"cover"`` if no option asks for
        another.
    option : str
        The option that asks for it; "" if none does.
    """
    ranker = ctx.params["ranker"]
    if ranker not in (_COVER, _PAPER):
        _check_other(ranker, ctx)
        return ranker, "--ranker"
    cover, paper = _for_cover(ctx), _for_paper(ctx)
    if cover and paper:
        raise UsageError(
            f"{paper[0]} asks for the paper's ranking, {cover[0]} for "
            "redundancy=cover; leave one of them out"
        )
    if paper:
        return _PAPER, paper[0]
    return _COVER, cover[0] if cover else ""


def _for_cover(ctx: click.Context) -> list[str]:
    """Return the options that only picks which do not repeat each other have."""
    given = []
    if ctx.params["redundancy"] == "cover":
        given.append("--redundancy cover")
    if ctx.params["ranker"] == _COVER and _is_given(ctx, "ranker"):
        given.append("--ranker cover")
    given += _given(ctx, _COVER_ONLY)
    if ctx.params["top"] == AUTO:
        given.append("--top auto")
    return given


def _for_paper(ctx: click.Context) -> list[str]:
    """Return the options that only the paper's ranking has."""
    given = []
    redundancy, similarity = ctx.params["redundancy"], ctx.params["similarity"]
    if redundancy == "none":
        given.append("--redundancy none")
    # FRANe is both; --redundancy decides where it is given.
    if redundancy is None and ctx.params["ranker"] == _PAPER:
        given.append("--ranker frane")
    if similarity not in CORRELATIONS:
        given.append(f"--similarity {similarity}")
    if ctx.params["missing"] == "pairwise":
        given.append("--missing pairwise")
    if ctx.params["backend"] == "dask":
        given.append("--backend dask")
    return given + _given(ctx, _PAPER_ONLY)


def _check_other(ranker: str, ctx: click.Context) -> None:
    """Raise where options were given that the ranker does not have."""
    known = _known(ranker)
    lacks = [option for option, name in _SHARED.items() if name not in known]
    strange = _given(ctx, [*_FRANE_ONLY, *lacks])
    if ctx.params["top"] == AUTO:
        strange.append("--top auto")
    if strange:
        raise UsageError(
            f"{strange[0]} does not belong to --ranker {ranker}; leave it out"
        )


def _given(ctx: click.Context, options: Iterable[str]) -> list[str]:
    """Return those of the options that stand on the command line."""
    return [f"--{name.replace('_', '-')}" for name in options if _is_given(ctx, name)]


def _is_given(ctx: click.Context, option: str) -> bool:
    return ctx.get_parameter_source(option) is ParameterSource.COMMANDLINE


def parameters_of(ranker: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the estimator that the options stand for.

    Those that name features are left out: see `franet.cli._constraints`.
    """
    if ranker not in (_COVER, _PAPER):
        known = _known(ranker)
        return {
            name: options[option] for option, name in _SHARED.items() if name in known
        }
    shared = {name: options[option] for option, name in _SHARED.items()}
    shared |= {name: options[name] for name in _PLACE}
    if ranker == _COVER:
        similarity = options["similarity"]
        return {"redundancy": "cover", "similarity": similarity, **shared}
    parameters = {
        name: options[name]
        for name in ("similarity", "missing", *_PAPER_ONLY)
        if name != "unweighted"
    }
    weighted = not options["unweighted"]
    return {"redundancy": None, **parameters, "weighted": weighted, **shared}


def largest_to_load(ranker: str, parameters: Mapping[str, Any]) -> int | None:
    """Return from how many bytes on a file is read piece by piece; None: never.

    The paper's ranking by correlations can do without the whole table in memory.
    """
    if ranker != _PAPER or parameters["similarity"] not in CORRELATIONS:
        return None
    if parameters["missing"] != "error" or parameters["search"] != "exact":
        return None
    if parameters["backend"] == "torch" or parameters["device"] is not None:
        return None
    from franet.engine.memory import available_bytes, parse_bytes

    given = parameters["max_memory"]
    memory = available_bytes() // 2 if given is None else parse_bytes(given)
    # The table, its checks and its standardized copy.
    return memory // 4


def _known(ranker: str) -> set[str]:
    """Return the names of the parameters of a ranker."""
    from franet.rankers import get

    return set(get(ranker)().get_params(deep=False))
