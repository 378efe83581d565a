"""Docstrings of what users see, by numpydoc's own checks."""

from __future__ import annotations

import dataclasses
import inspect

import pandas as pd
import pytest
from numpydoc.docscrape import ClassDoc
from numpydoc.validate import validate

import franet
from franet import quality, rankers
from franet.pairs import similarity
from franet.search import centrality, ranking, thresholds
from tables import TABLES

# What makes a docstring wrong, rather than merely short:
CHECKS = {
    "GL01",  # text starts on the first line
    "GL02",  # closing quotes stand alone
    "GL03",  # no double blank lines
    "GL05",  # no tabs
    "GL06",  # unknown section
    "GL07",  # sections in the wrong order
    "GL08",  # there is no docstring
    "GL10",  # directives without two colons
    "SS01",  # no summary
    "SS02",  # summary starts with a capital
    "SS03",  # summary ends with a period
    "SS04",  # summary without leading spaces
    "SS05",  # summary in the imperative
    "SS06",  # summary in one line
    "PR01",  # parameters that are not documented
    "PR02",  # parameters that do not exist
    "PR03",  # parameters in another order
    "PR04",  # parameters without a type
    "PR05",  # types that end with a period
    "PR06",  # type names such as "string"
    "PR07",  # parameters without a description
    "PR08",  # descriptions start with a capital
    "PR09",  # descriptions end with a period
    "PR10",  # space before the colon
    "RT03",  # return values without a description
    "RT04",  # they start with a capital
    "RT05",  # they end with a period
}
# Left out: ES01, SA01, SA04, EX01 ask for an extended summary, "See also" and examples
# everywhere; RT01 and YD01 for a "Returns" section, which one line often says better;
# EX02 and EX03 are for pytest, which runs the examples, and for the linter.
# Of functions inside the package the one line may name the parameters as well.
INTERNAL = CHECKS - {"PR01"}


def methods(cls):
    for name, value in vars(cls).items():
        public = not name.startswith("_")
        if public and (inspect.isfunction(value) or isinstance(value, property)):
            yield name


def names():
    """Yield the dotted names of classes, methods and functions, and their checks."""
    for name in franet.__all__:
        thing = getattr(franet, name)
        if inspect.isclass(thing):
            path = f"{thing.__module__}.{name}"
            # The fields of a dataclass are its attributes: see below.
            yield path, INTERNAL if dataclasses.is_dataclass(thing) else CHECKS
            yield from ((f"{path}.{member}", CHECKS) for member in methods(thing))
    for module in (centrality, quality, ranking, similarity, thresholds):
        for name in module.__all__:
            if inspect.isfunction(getattr(module, name)):
                yield f"{module.__name__}.{name}", INTERNAL
    for module, name in rankers.RANKERS.values():
        yield f"{module}.{name}", CHECKS
    yield "franet.rankers.get", CHECKS
    yield "franet.rankers.intrinsic_dimension.intrinsic_dimension", CHECKS
    for name in ("summarize", "render", "write"):
        yield f"franet.report.{name}", CHECKS
    yield "franet.estimators._base.FeatureRanker", INTERNAL


@pytest.mark.parametrize(("name", "checks"), sorted(names(), key=lambda pair: pair[0]))
def test_docstring(name, checks):
    errors = validate(name)["errors"]
    assert [f"{code}: {text}" for code, text in errors if code in checks] == []


def test_the_list_is_not_empty():
    found = {name for name, _ in names()}
    assert {
        "franet.estimators._frane.FRANe",
        "franet.estimators._frane.FRANe.plan",
    } <= found
    assert "franet.network.AttributeNetwork.redundant_with" in found
    assert "franet.quality.rqh" in found


def documented(cls, section):
    return [entry.name for entry in ClassDoc(cls)[section]]


def test_fields_of_the_network():
    names = [field.name for field in dataclasses.fields(franet.AttributeNetwork)]
    fields = [name for name in names if not name.startswith("_")]
    assert documented(franet.AttributeNetwork, "Attributes") == fields


def test_attributes_of_the_estimator():
    frame = pd.DataFrame(TABLES["random"]).add_prefix("gene ")
    fits = {
        franet.FRANe: [{"store_candidates": True}, {"search": "approximate"}],
        franet.Cover: [{}],
    }
    for kind, choices in fits.items():
        fitted = [kind(**choice).fit(frame) for choice in choices]
        there = {name for each in fitted for name in vars(each) if name.endswith("_")}
        listed = set(documented(kind, "Attributes"))
        assert listed == there | {"feature_importances_"}
