"""Statistics of a comparison: ranks, Friedman, post-hoc tests, Bayesian tests."""

from franet.evaluation.statistics.bayes import (
    Comparison,
    Regions,
    correlated_t_test,
    hierarchical,
)
from franet.evaluation.statistics.diagnostics import effective_size, r_hat
from franet.evaluation.statistics.ranks import (
    Friedman,
    PostHoc,
    average_ranks,
    bonferroni_dunn,
    friedman,
    nemenyi,
    ranks,
    wins,
)

__all__ = [
    "Comparison",
    "Friedman",
    "PostHoc",
    "Regions",
    "average_ranks",
    "bonferroni_dunn",
    "correlated_t_test",
    "effective_size",
    "friedman",
    "hierarchical",
    "nemenyi",
    "r_hat",
    "ranks",
    "wins",
]


def __dir__() -> list[str]:
    return sorted(__all__)
