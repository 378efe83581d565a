"""The page of the groups of correlated columns."""

from __future__ import annotations

import json

import numpy as np
import pytest

from franet import drop_correlated
from franet.exceptions import UsageError
from franet.report import render, summarize_groups, write

DRAW = np.random.default_rng(0)
BASE = DRAW.standard_normal((40, 3))
X = BASE[:, [0, 0, 0, 0, 0, 1, 1, 2]] + 0.1 * DRAW.standard_normal((40, 8))
X[:, 7] = 1.0
FOUND = drop_correlated(X, 0.8).named([f"<b{j}>" for j in range(8)])


def test_summary_is_what_was_found():
    page = summarize_groups(FOUND, title="mine", seconds=0.12345, warnings=["careful"])
    assert page["seconds"] == 0.123
    assert (page["n_columns"], page["n_kept"], page["n_groups"]) == (8, 2, 2)
    assert page["n_alone"] == 0
    assert page["constant"] == ["<b7>"]
    assert [g["count"] for g in page["groups"]] == [4, 1]
    for group, (k, members) in zip(page["groups"], FOUND.groups.items(), strict=True):
        assert group["kept"] == FOUND.names[k]
        for shown, j in zip(group["members"], members, strict=True):
            assert shown["name"] == FOUND.names[j]
            assert shown["r"] == pytest.approx(
                np.corrcoef(X[:, [j, k]].T)[0, 1], abs=1e-3
            )
    assert len(summarize_groups(FOUND, top=1)["groups"]) == 1


def test_page():
    page = summarize_groups(FOUND, title="mine", warnings=["<careful>"])
    html = render(page)
    assert html == render(json.loads(json.dumps(page)))
    assert "<b0>" not in html
    assert "&lt;careful&gt;" in html
    for name in FOUND.names:
        assert name.replace("<", "&lt;").replace(">", "&gt;") in html
    assert "script-src &#39;none&#39;;" in html
    assert "<script" not in html
    few = render(summarize_groups(FOUND, top=1))
    assert "and 1 smaller group<" in few
    alone = render(summarize_groups(drop_correlated(BASE)))
    assert "No column is represented by another one." in alone


def test_files(tmp_path):
    FOUND.report(tmp_path / "page.html", title="mine")
    assert '<h1 dir="auto">mine</h1>' in (tmp_path / "page.html").read_text()
    write(summarize_groups(FOUND), tmp_path / "page.json")
    assert json.loads((tmp_path / "page.json").read_text())["format"] == "franet-groups"
    with pytest.raises(UsageError, match="at least one group"):
        FOUND.report(tmp_path / "page.html", top=0)
    with pytest.raises(UsageError, match="what drop_correlated returned"):
        summarize_groups(X)
