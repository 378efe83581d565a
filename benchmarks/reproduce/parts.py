"""What the reproduction measures: its parts, their rankers, and where.

The paper's folds, 5-NN on raw features, everywhere. The number of classes, which the
paper gave to MCFS and NDFS, is not known of data without labels: ours have 5 clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from others import CUR, FastCan, LastColumns

from franet import FRANe
from franet.rankers import get

# The 19 data sets of the paper that are at hand, in the order of its table.
DATASETS = (
    "arcene", "pixraw10P", "nci9", "ALLAML", "leukemia", "Prostate-GE", "TOX-171",
    "BASEHOCK", "GLIOMA", "RELATHE", "lymphoma", "PCMAC", "warpPIE10P", "colon",
    "COIL20", "ORL", "Yale", "Isolet", "madelon",
)  # fmt: skip
SIMILARITIES = ("correlation", "canberra", "chebyshev", "manhattan", "euclidean")
PROGRESSIONS = ("geometric", "linear", "linear-mean", "linear-median", "quantile")
# How often a threshold is drawn by chance instead of chosen by RQH.
DRAWS = 5
ERRORS = ("rmae", "rmae_shared", "rmae_scaled")


@dataclass(frozen=True)
class Part:
    """Rankers that are run together.

    Attributes
    ----------
    rankers : dict
        Estimators by label.
    measures : tuple of str
        What is measured.
    n_features : "powers" or list of int
        At how many features.
    """

    rankers: dict[str, Any]
    measures: tuple[str, ...] = ERRORS
    n_features: Any = "powers"


def parts() -> dict[str, Part]:
    """Return all parts by name, those that take longest last."""
    frane = {
        "frane-reference": FRANe(variant="reference"),
        "frane-paper": FRANe(),
    }
    plain = (
        "laplacian", "spec", "mcfs", "ndfs", "variance", "random", "column-subset",
        "facility-location",
    )  # fmt: skip
    collapsed = {
        "last-columns": LastColumns(),
        "laplacian-literature": get("laplacian")(width=1.0),
    }
    return {
        "table": Part({**frane, **{name: get(name)() for name in plain}}),
        "collapsed": Part(collapsed, ("rmae", "rmae_shared")),
        "peers": Part(
            {"fastcan": FastCan(), "cur": CUR()},
            ("rmae", "rmae_shared"),
            [1, 2, 4, 8, 16],
        ),
        "thresholds": Part(
            {
                f"chance-{draw}": FRANe(
                    variant="reference", quality="random", random_state=draw
                )
                for draw in range(DRAWS)
            },
            ("rmae", "rmae_shared"),
            16,
        ),
        "genie3": Part({"genie3": get("genie3")()}),
        "agnos": Part({"agnos": get("agnos")()}),
        "more": Part({"urelief": get("urelief")(), "udfs": get("udfs")()}),
        "ablation": Part(
            {
                f"{similarity}/{progression}": FRANe(
                    similarity=similarity, thresholds=progression
                )
                for similarity in SIMILARITIES
                for progression in PROGRESSIONS
            },
            ("rmae", "rmae_shared"),
            16,
        ),
    }
