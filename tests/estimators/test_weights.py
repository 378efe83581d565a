"""Weights of columns go with them, where columns are permuted, cut or named."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from franet import Cover
from franet.anndata import rank_features
from franet.cover._constraints import by_position
from franet.estimators._draws import Draws, _moved
from franet.evaluation import evaluate
from tables import blocks

X = 3.0 * blocks(60, 12, seed=3)
NAMES = [f"gene {j}" for j in range(12)]
NUMBERS = np.array([0, 5, 0, 0, 1, 0, 9, 0, 0, 2, 0, 0.5])
FORMS = {
    "array": NUMBERS,
    "list": NUMBERS.tolist(),
    "names": dict(zip(NAMES, NUMBERS, strict=True)),
    "positions": dict(enumerate(NUMBERS)),
    "series": pd.Series(NUMBERS[::-1], index=NAMES[::-1]),
}


def frame():
    return pd.DataFrame(X, columns=NAMES)


@pytest.mark.parametrize("form", FORMS)
def test_forms_are_one(form):
    wanted = Cover(3, weights=NUMBERS).fit(frame())
    found = Cover(3, weights=FORMS[form]).fit(frame())
    np.testing.assert_array_equal(found.order_, wanted.order_)
    np.testing.assert_array_equal(found.gains_, wanted.gains_)
    assert found.order_.tolist() != Cover(3).fit(frame()).order_.tolist()


def test_others_count_1():
    some = Cover(3, weights={"gene 1": 7.0}).fit(frame())
    numbers = np.where(np.arange(12) == 1, 7.0, 1.0)
    np.testing.assert_array_equal(some.gains_, Cover(3, weights=numbers).fit(X).gains_)


def test_names_become_positions():
    assert by_position({"weights": FORMS["names"]}, np.array(NAMES)) == {
        "weights": FORMS["positions"]
    }
    for given in ("robust", "variance", NUMBERS, FORMS["list"]):
        assert by_position({"weights": given}, np.array(NAMES)) == {}


@pytest.mark.parametrize("form", FORMS)
def test_weights_move_with_their_columns(form):
    fitted = Cover(3, weights=FORMS[form]).fit(frame())
    columns = np.random.default_rng(0).permutation(12)
    moved = _moved(fitted, columns)["weights"]
    if isinstance(moved, dict):
        assert all(NUMBERS[columns[j]] == value for j, value in moved.items())
        assert len(moved) == 12
    else:
        np.testing.assert_array_equal(moved, NUMBERS[columns])
    again = clone(fitted).set_params(weights=moved).fit(X[:, columns])
    np.testing.assert_array_equal(columns[again.order_[:3]], fitted.order_[:3])
    np.testing.assert_allclose(again.gains_, fitted.gains_, rtol=1e-9)


@pytest.mark.parametrize("given", ["robust", "variance"])
def test_rules_stay(given):
    fitted = Cover(3, weights=given).fit(X)
    assert _moved(fitted, np.arange(12)[::-1]) == {}


@pytest.mark.parametrize("form", FORMS)
def test_draws_are_fits_with_the_same_weights(form):
    fitted = Cover(3, weights=FORMS[form]).fit(frame())
    draws = Draws(fitted, X, 4, 0)
    draws.run(1)
    for number, ranks in enumerate(draws.ranks):
        wanted = Cover(3, weights=NUMBERS).fit(X[draws._rows(number)])
        found = np.argsort(ranks, kind="stable")[:3]
        np.testing.assert_array_equal(found, wanted.order_[:3])


def test_folds_keep_weights():
    rankers = {name: Cover(weights=given) for name, given in FORMS.items()}
    choice = {"folds": 3, "n_features": [2, 4], "measures": "rmae"}
    records = evaluate(frame(), rankers=rankers, references=False, **choice).records
    values = {}
    for record in records:
        assert record.status == "ok", record.reason
        values.setdefault(record.ranker, []).append(record.values)
    assert len(values) == len(FORMS)
    assert all(found == values["array"] for found in values.values())
    plain = evaluate(X, rankers={"cover": Cover()}, references=False, **choice).records
    assert [record.values for record in plain] != values["array"]


@pytest.mark.parametrize("form", FORMS)
def test_anndata(form):
    adata = ad.AnnData(X.copy())
    adata.var_names = NAMES
    rank_features(adata, ranker=Cover(3, weights=FORMS[form]))
    wanted = Cover(3, weights=NUMBERS).fit(X)
    np.testing.assert_array_equal(adata.var["franet_rank"], wanted.ranking_)
    assert "weights" in adata.uns["franet"]["params"]
