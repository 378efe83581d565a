"""The declared parameters are those of the rankers."""

from __future__ import annotations

from inspect import signature

import pytest

from franet import FRANe
from franet.estimators import _parameters
from franet.pairs.similarity import CORRELATIONS
from franet.pairs.similarity._distances import DISTANCES
from franet.quality import QUALITIES
from franet.rankers import get
from franet.search.centrality import CENTRALITIES


@pytest.mark.parametrize("ranker", ["agnos", "cover", "frane"])
def test_defaults_are_those_of_the_signature(ranker):
    declared = getattr(_parameters, ranker.upper())
    found = signature(get(ranker)).parameters
    if ranker != "agnos":  # it declares only what it shares
        assert set(found) == {"n_features_to_select", *declared}
    for name, parameter in declared.items():
        assert found[name].default == parameter.default


def test_choices_are_what_is_implemented():
    # Every progression is run by tests/test_agreement.py.
    given = {*CORRELATIONS, "mixed", *DISTANCES, "precomputed"}
    assert set(_parameters.SIMILARITIES) == given
    assert set(_parameters.CENTRALITIES) == {"pagerank", *CENTRALITIES}
    assert set(_parameters.QUALITIES) == {"random", *QUALITIES}


def test_an_invalid_value_is_a_field():
    from franet.exceptions import UsageError

    with pytest.raises(UsageError, match=r"The 'p' parameter of FRANe must be") as info:
        FRANe(p=0.5).fit([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0]])
    assert info.value.parameter == "p"
    assert isinstance(info.value, TypeError)  # as scikit-learn's error is
