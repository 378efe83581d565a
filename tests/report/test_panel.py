"""The page of a gene panel, as a dict and as HTML."""

from __future__ import annotations

import base64
import json
import re

import numpy as np
import pytest

from franet import Cover
from franet.evaluation import judge_panel
from franet.exceptions import UsageError
from franet.report import render, summarize_panel, write

DRAW = np.random.default_rng(0)
TYPES = np.repeat(["a<b", "c & d", "e"], 20)
NAMES = [f"<g{j}>" for j in range(12)]
X = np.abs(DRAW.normal(size=(60, 12)))
for t in range(3):
    X[20 * t : 20 * (t + 1), [t, t + 3]] += 3.0
COVER = Cover(4, weights="variance", include=[5]).fit(X)
PICKS = COVER.order_[:4]
JUDGED = judge_panel(X, PICKS, TYPES, names=NAMES)


def made(**more):
    given = {"labels": TYPES, "names": NAMES, "title": "mine", "seconds": 0.12345}
    return summarize_panel(COVER, X, JUDGED, **given | more)


def test_summary():
    page = made(warnings=["careful"])
    assert (page["n_cells"], page["n_genes"], page["n_panel"]) == (60, 12, 4)
    assert page["seconds"] == 0.123
    assert page["explained"] == pytest.approx(COVER.explained_[3], abs=1e-4)
    for at, (row, j) in enumerate(zip(page["genes"], PICKS, strict=True)):
        assert (row["rank"], row["name"]) == (at + 1, NAMES[j])
        assert row["is_start"] == (j == 5)
        assert row["level"] == pytest.approx(X[:, j].mean(), rel=1e-3)
        assert row["n_members"] == len(COVER.members_[j])
    carried = {label for row in page["genes"] for label in row["carries"]}
    assert carried == {*TYPES}
    means = [X[TYPES == t][:, PICKS].mean(axis=0) for t in sorted({*TYPES})]
    heat = np.array(page["heat"])
    assert heat.min() == 0.0 and heat.max() == 1.0
    assert heat.argmax(axis=1).tolist() == np.argmax(means, axis=0).tolist()
    assert np.shape(page["confusion"]) == (3, 3)
    assert page["parameters"]["include"] == ["<g5>"]
    assert json.loads(json.dumps(page, allow_nan=False)) == page


def test_cells():
    cells = made(embedding=np.column_stack([X[:, 0], -X[:, 0], X[:, 1]]))["cells"]
    level = np.frombuffer(base64.b64decode(cells["level"][0]), np.uint8)
    x = X[:, PICKS[0]]
    np.testing.assert_allclose(
        cells["low"][0] + level / 255 * (cells["high"][0] - cells["low"][0]),
        x,
        atol=0.05,
    )
    assert np.corrcoef(cells["x"], X[:, 0])[0, 1] > 0.999
    assert np.corrcoef(cells["y"], X[:, 0])[0, 1] < -0.999
    assert cells["type"] == np.unique(TYPES, return_inverse=True)[1].tolist()
    assert made()["cells"]["how"] == "two principal components"


def test_without_labels():
    judged = judge_panel(X, PICKS, names=NAMES)
    page = summarize_panel(COVER, X, judged, names=NAMES)
    for part in ("types", "heat", "confusion"):
        assert page[part] is None
    html = render(page)
    assert 'id="types"' not in html and 'id="by-type"' not in html
    assert "carries" not in csv_of(html)


def csv_of(html):
    found = re.search(r'href="data:text/csv;base64,([^"]*)"', html)[1]
    return base64.b64decode(found).decode()


def test_page():
    page = made(warnings=["<careful>"])
    html = render(page)
    assert html == render(json.loads(json.dumps(page)))
    assert "<g5>" not in html and "&lt;g5&gt;" in html
    assert "&lt;careful&gt;" in html
    assert "c &amp; d" in html
    head, *rows = csv_of(html).splitlines()
    assert head.startswith("rank,feature,explained,")
    assert len(rows) == 4
    assert rows[0].startswith("1,<g5>,")
    assert not re.search(r'(src|href)="(?!data:|#)', html)


def test_stability():
    page = made(stability=COVER.stability(X, 4))
    assert page["stability"]["n_halves"] == 4
    assert "picked again" in render(page)
    assert "picked_again" in csv_of(render(page))


def test_files(tmp_path):
    write(made(), tmp_path / "panel.html")
    assert (tmp_path / "panel.html").read_text().startswith("<!DOCTYPE html>")
    write(made(), tmp_path / "panel.json")
    assert json.loads((tmp_path / "panel.json").read_text())["format"] == "franet-panel"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"labels": TYPES[:5]}, "labels: 5 are given for 60 cells"),
        ({"embedding": X[:5, :2]}, "embedding: 5 are given for 60 cells"),
    ],
)
def test_refused(more, said):
    with pytest.raises(UsageError, match=said):
        made(**more)
    other = judge_panel(X, PICKS[::-1], names=NAMES)
    with pytest.raises(UsageError, match="judged is of another panel than the first"):
        summarize_panel(COVER, X, other)
