"""Small networks that are hard in different ways."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse

from franet import AttributeNetwork, FRANe

HOSTILE = [
    "plain",
    "quote \" and ' and & <b>bold</b>",
    "<img src=x onerror=alert(1)>",
    "]]><!-- -->",
    "tumour 🧬 größe",
    "\u202eright to left \u0645\u0631\u062d\u0628\u0627",
    "two\nlines\r\nand\ta tab",
    "long " + "x" * 500,
    "nul \x00 bell \x07 \ufffe",
    "  blanks  ",
    "",
    "$x_1$, comma; {brace} \\ back",
    "lone \ud800 surrogate",
]


def make(n, edges, names=None, scores=None, **given):
    """Return a network of `n` features with edges ``(j, k, weight)``."""
    W = np.zeros((n, n))
    for j, k, w in edges:
        W[j, k] = W[k, j] = w
    scores = np.linspace(1.0, 0.5, n) if scores is None else np.asarray(scores, float)
    ranking = np.empty(n, np.intp)
    ranking[np.argsort(-scores, kind="stable")] = np.arange(1, n + 1)
    names = [f"f{j}" for j in range(n)] if names is None else names
    return AttributeNetwork(
        adjacency=sparse.csr_array(W),
        names=np.array(names, dtype=object),
        scores=scores,
        ranking=ranking,
        threshold=given.pop("threshold", 0.1),
        n_edges=len(edges),
        **given,
    )


# Two triangles joined by a weak edge, a pair, and a feature alone.
TRIANGLES = make(
    9,
    [
        (0, 1, 0.9),
        (1, 2, 0.8),
        (0, 2, 0.7),
        (3, 4, 0.9),
        (4, 5, 0.9),
        (3, 5, 0.9),
        (2, 3, 0.1),
        (6, 7, 0.5),
    ],
    scores=[0.2, 0.9, 0.3, 0.8, 0.4, 0.1, 0.6, 0.7, 0.05],
)
SMALL = {
    "nobody": make(0, []),
    "one": make(1, []),
    "two": make(2, [(0, 1, 0.5)]),
    "two apart": make(2, []),
    "all apart": make(7, []),
    "no threshold": make(3, [], threshold=np.nan),
    "triangles": TRIANGLES,
    "zero weights": make(3, [(0, 1, 0.5)], threshold=0.0),
    "hostile": make(
        len(HOSTILE),
        [(j, j + 1, 1.0 / (j + 3)) for j in range(len(HOSTILE) - 2)],
        names=HOSTILE,
    ),
    "truncated": make(4, [(0, 1, 0.9), (2, 3, 0.8)], truncated_=True),
}


def fit(table, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return FRANe(**parameters).fit(table)
