"""What a notebook shows: escaped, self-contained, without a script."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from franet import FRANe
from network.nets import HOSTILE, SMALL, TRIANGLES, fit
from tables import TABLES


class Reader(HTMLParser):
    """Collects the tags and the text; fails on what is not closed."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text, self.open = [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.open.append(tag)
        for key, value in attrs:
            assert key in ("style", "scope", "title")
            assert key != "style" or "url(" not in value

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


ALLOWED = {"div", "b", "table", "thead", "tbody", "tr", "th", "td", "bdi"}


@pytest.mark.parametrize("name", SMALL)
def test_network(name):
    net = SMALL[name]
    reader = Reader(net._repr_html_())
    assert set(reader.tags) <= ALLOWED
    text = "".join(reader.text)
    assert f"{len(net):,} features" in text
    assert f"{net.n_edges:,} edges" in text
    assert ("strongest edges are stored" in text) == net.truncated_


def test_hostile_names_are_text():
    html = SMALL["hostile"].neighbors(2)._repr_html_()
    assert "<img" not in html
    reader = Reader(html)
    assert set(reader.tags) <= ALLOWED
    assert HOSTILE[1] in reader.text
    long = SMALL["hostile"].neighbors(6, top=None)._repr_html_()
    assert "…" in long
    assert f'title="{HOSTILE[7]}"' in long


def test_network_lists_hubs():
    text = Reader(TRIANGLES._repr_html_()).text
    assert " ".join(text[-12:]) == "f1 1 3 0.8 f3 2 3 0.9 f7 3 2 0.5"


def ranking_of(html):
    return html[html.index("<div>The best of") :]


def test_estimator():
    unfitted = FRANe(damping=0.7)._repr_html_()
    assert "The best of" not in unfitted
    assert "sk-" in unfitted
    frame = pd.DataFrame(TABLES["random"])
    frame.columns = ["<img src=x onerror=alert(1)>", *(f"g{j}" for j in range(23))]
    ranker = fit(frame, min_mean_degree=3)
    for html in (ranker._repr_html_(), ranker._repr_mimebundle_()["text/html"]):
        assert "sk-" in html
        assert "<img" not in ranking_of(html)
        reader = Reader(ranking_of(html))
        best = ranker.feature_names_in_[np.argsort(ranker.ranking_)[:10]]
        named = [part for part in reader.text if part in set(frame.columns)]
        assert named == list(best)
        assert "and 14 more features" in reader.text
    assert repr(ranker) == "FRANe(min_mean_degree=3)"
    bundle = ranker._repr_mimebundle_()
    assert bundle["text/plain"] == repr(ranker)


def test_estimator_without_names_and_as_text():
    ranker = fit(TABLES["random"])
    assert (
        f"x{np.argmin(ranker.ranking_)}"
        in Reader(ranking_of(ranker._repr_html_())).text
    )
    with sklearn.config_context(display="text"):
        assert not hasattr(ranker, "_repr_html_")
        assert "text/html" not in ranker._repr_mimebundle_()


def test_in_a_pipeline():
    steps = make_pipeline(StandardScaler(), FRANe())
    assert "FRANe" in steps._repr_html_()
