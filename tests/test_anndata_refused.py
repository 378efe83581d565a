"""Ranking AnnData: what is refused, and in which words."""

from __future__ import annotations

import sys
import warnings

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from franet import Cover, DataError, FRANe
from franet.anndata import rank_features
from franet.exceptions import MissingExtraError, UsageError
from single_cells import GROUPS, counts, planted, tokens


def changed(X=None, names=None, **more):
    adata = planted(X, **more)
    if names is not None:
        adata.var_names = names
    return adata


def spoilt(value, make=np.asarray):
    X = GROUPS.X.copy()
    X[7, 5] = X[2, 9] = value
    return changed(make(X))


NAN = f"'{GROUPS.names[5]}' holds NaN in '7'. Fill the value"


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_bad_values(make):
    with pytest.raises(DataError) as caught:
        rank_features(spoilt(np.nan, make))
    assert str(caught.value).startswith(NAN)
    with pytest.raises(DataError, match=f"'{GROUPS.names[5]}' holds infinity in '7'"):
        rank_features(spoilt(-np.inf, make))


def test_missing_values_are_for_rankers_that_take_them():
    adata = spoilt(np.nan)
    rank_features(adata, ranker=FRANe(missing="pairwise"))
    assert adata.var["franet_score"].notna().all()
    with pytest.raises(DataError, match="holds infinity"):
        rank_features(spoilt(np.inf), ranker=FRANe(missing="pairwise"))


def test_large_values_are_not_bad():
    X = 1e307 * np.abs(GROUPS.X)  # their sum is infinite
    frame = rank_features(planted(X), ranker=FRANe(), inplace=False)
    small = rank_features(planted(np.abs(GROUPS.X)), ranker=FRANe(), inplace=False)
    assert list(frame["franet_rank"]) == list(small["franet_rank"])
    X[7, 5] = np.nan
    with pytest.raises(DataError, match="holds NaN"):
        rank_features(planted(X), ranker=FRANe())


def repeated():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return changed(names=["A", "B", "A", "B", *GROUPS.names[4:]])


BAD = {
    "names": (
        repeated,
        {},
        DataError,
        "more than once: 'A', 'B'. Call adata.var_names_make_unique() first.",
    ),
    "cells": (
        lambda: changed(GROUPS.X[:2]),
        {},
        DataError,
        "The shape of adata is 2 × 18. Pass at least 3 observations and 2 variables.",
    ),
    "genes": (
        lambda: ad.AnnData(GROUPS.X[:, :1]),
        {},
        DataError,
        "The shape of adata is 100 × 1. Pass at least 3 observations and 2 variables.",
    ),
    "silent": (
        lambda: changed(np.zeros((5, 18))),
        {},
        DataError,
        "All columns are constant",
    ),
    "table": (
        lambda: pd.DataFrame(GROUPS.X),
        {},
        UsageError,
        "adata is a DataFrame, not AnnData. Tables",
    ),
    "layer": (
        lambda: changed(layers={"log": GROUPS.X}),
        {"layer": "counts"},
        UsageError,
        "layer='counts': adata has log. None is X.",
    ),
    "no layer": (
        planted,
        {"layer": "counts"},
        UsageError,
        "layer='counts': adata has no layers. None is X.",
    ),
    "key": (planted, {"key_added": "a/b"}, UsageError, "key_added='a/b': give a name"),
    "dot": (planted, {"key_added": "."}, UsageError, "key_added='.': give a name"),
    "no key": (planted, {"key_added": ""}, UsageError, "key_added='': give a name"),
    "many": (
        planted,
        {"n_top": 19},
        UsageError,
        "n_top=19: give a number from 1 to 18",
    ),
    "none": (planted, {"n_top": 0}, UsageError, "n_top=0: give a number from 1 to 18"),
    "share": (planted, {"n_top": 1.5}, UsageError, "n_top=1.5: give a number from 1"),
    "flag": (planted, {"n_top": True}, UsageError, "n_top=True: give a number from 1"),
    "word": (planted, {"n_top": "auto"}, UsageError, "n_top='auto': give a number"),
    "class": (
        planted,
        {"ranker": FRANe},
        UsageError,
        "is not an instance of a franet ranker. Pass one, such as Cover()",
    ),
    "name": (
        planted,
        {"ranker": "ndfs"},
        UsageError,
        "ranker='ndfs' is not an instance",
    ),
    "precomputed": (
        planted,
        {"ranker": FRANe(similarity="precomputed")},
        UsageError,
        "similarity='precomputed' is for a matrix of similarities",
    ),
    "gene": (
        planted,
        {"ranker": Cover(include=["g1.11"])},
        UsageError,
        "include: There is no feature 'g1.11'. Did you mean 'g1.1'",
    ),
    "one gene": (
        planted,
        {"ranker": Cover(exclude="g1")},
        UsageError,
        "exclude: give a list of features, such as ['g1'].",
    ),
    "too few": (
        lambda: ad.AnnData(counts()),
        {"n_top": 12, "ranker": Cover(exclude=[0]), "normalize": "none"},
        UsageError,
        "n_top=12, but only 11 features can be picked: others are constant",
    ),
}


@pytest.mark.parametrize(("make", "arguments", "kind", "said"), BAD.values(), ids=BAD)
def test_refused(make, arguments, kind, said):
    adata = make()
    before = tokens(adata) if isinstance(adata, ad.AnnData) else None
    with pytest.raises(kind) as caught:
        rank_features(adata, **arguments)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert before is None or tokens(adata) == before


def test_without_anndata(monkeypatch):
    adata = planted()
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(MissingExtraError) as caught:
        rank_features(adata)
    assert str(caught.value) == (
        "Ranking AnnData needs an extra: pip install 'franet[anndata]'"
    )
