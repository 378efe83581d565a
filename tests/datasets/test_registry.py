"""What the registry says, held to the paper and to the files."""

import csv
import dataclasses
import re

import numpy as np
import pytest
from numpydoc.docscrape import ClassDoc
from numpydoc.validate import validate

import franet.datasets
from data import dataset_names, needs_shared, shared_dir
from franet.datasets import DATASETS, Dataset, Entry, Fetched, Groups, get, load, names
from franet.exceptions import UsageError
from test_docstrings import CHECKS


def test_there_are_29():
    assert len(DATASETS) == 29
    assert all(name == entry.name for name, entry in DATASETS.items())
    assert len(names(paper=True)) == 26
    left_out = names(paper=False)
    assert sorted(left_out) == ["lung_small", "orlraws10P", "warpAR10P"]
    for name in left_out:
        assert DATASETS[name].excluded
        assert not DATASETS[name].in_paper
    assert not any(DATASETS[name].excluded for name in names(paper=True))


def test_each_has_a_checksum_and_an_address():
    for entry in DATASETS.values():
        known = [entry.sha256, entry.git_id]
        assert sum(value is not None for value in known) == 1
        assert re.fullmatch("[0-9a-f]{64}|[0-9a-f]{40}", entry.sha256 or entry.git_id)
        assert re.fullmatch(r"https://jundongl\.github\.io/\S+/\w+\.mat", entry.url)
        assert 2 <= entry.n_classes <= entry.n_examples
    sums = [entry.sha256 or entry.git_id for entry in DATASETS.values()]
    assert len(set(sums)) == 29


@pytest.mark.parametrize("name", DATASETS)
def test_spellings(name):
    entry = DATASETS[name]
    theirs = entry.url.rpartition("/")[2].removesuffix(".mat")
    for spelling in (
        name, name.upper(), name.replace("-", "_"), name.lower(), theirs,
        entry.published or name,
    ):  # fmt: skip
        assert get(spelling) is entry


def test_spellings_of_the_paper():
    assert get("baseshock").name == "BASEHOCK"
    assert get("lung-small").name == "lung_small"
    assert get("lung").name == "lung"
    assert get("smk-can-187").name == "SMK-CAN-187"


def test_unknown_name():
    with pytest.raises(UsageError, match=r"no data set 'iris'\. Choose one of: ALLAML"):
        get("iris")
    with pytest.raises(UsageError, match="no data set ''"):
        get("")


@needs_shared
def test_the_table_of_the_paper():
    table = shared_dir() / "paper" / "results.csv"
    if not table.exists():
        pytest.skip("the table of the paper is not here")
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    entries = [DATASETS[name] for name in names(paper=True)]
    assert [
        (e.published, str(e.n_features), str(e.n_examples), e.domain) for e in entries
    ] == [(r["dataset"], r["n_features"], r["n_examples"], r["domain"]) for r in rows]


@needs_shared
@pytest.mark.parametrize("name", dataset_names())
def test_the_files_that_are_here(name, monkeypatch):
    monkeypatch.setenv("FRANET_DATA", str(shared_dir()))
    dataset, entry = load(name, download=False), DATASETS[name]
    assert dataset.X.shape == (entry.n_examples, entry.n_features)
    assert len(np.unique(dataset.y)) == entry.n_classes


@pytest.mark.parametrize("name", franet.datasets.__all__)
def test_docstrings(name):
    thing = getattr(franet.datasets, name)
    if not callable(thing):
        return
    checks = CHECKS - ({"PR01"} if dataclasses.is_dataclass(thing) else set())
    errors = validate(f"{thing.__module__}.{name}")["errors"]
    assert [f"{code}: {text}" for code, text in errors if code in checks] == []


@pytest.mark.parametrize("kind", [Dataset, Entry, Fetched, Groups])
def test_fields_are_documented(kind):
    fields = [field.name for field in dataclasses.fields(kind)]
    assert [item.name for item in ClassDoc(kind)["Attributes"]][: len(fields)] == fields
