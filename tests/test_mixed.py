"""Numbers, booleans, text and categories on one scale: ``similarity="mixed"``."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from pandas.api.types import is_string_dtype
from scipy import sparse, stats
from scipy.stats.contingency import association

from franet import DataError, FRANe
from franet.pairs.coded import code_table
from franet.pairs.similarity import open_source
from franet.pairs.similarity._mixed import MixedSource
from tables import TABLES
from test_sklearn import same


def frame(m=60, numbers=4, levels=(2, 3, 5, 9), seed=0):
    """Return columns that share a hidden group, more or less, numbers first."""
    random = np.random.default_rng(seed)
    group = random.integers(6, size=m)
    columns = {f"n{j}": group + (j + 1) * random.normal(size=m) for j in range(numbers)}
    for j, k in enumerate(levels):
        noise = random.integers(k, size=m)
        level = np.where(random.random(m) < 0.6, group % k, noise)
        columns[f"c{j}"] = [f"level {x}" for x in level]
    return pd.DataFrame(columns)


# The textbook: sums of squares, chi-squared of a table of counts.


def naive_r2(x, y):
    x, y = x - x.mean(), y - y.mean()
    return (x @ y) ** 2 / ((x @ x) * (y @ y))


def naive_eta2(x, level):
    between = sum(
        (level == a).sum() * (x[level == a].mean() - x.mean()) ** 2
        for a in np.unique(level)
    )
    return between / ((x - x.mean()) ** 2).sum()


def counts(a, b):
    return np.array(
        [[((a == x) & (b == y)).sum() for y in np.unique(b)] for x in np.unique(a)]
    )


def naive_phi2(a, b):
    n = counts(a, b)
    expected = np.outer(n.sum(axis=1), n.sum(axis=0)) / n.sum()
    return ((n - expected) ** 2 / expected).sum() / n.sum()


def naive_v2(a, b):
    return naive_phi2(a, b) / (min(len(np.unique(a)), len(np.unique(b))) - 1)


def naive_square(x, y):
    """Return the uncorrected square of two columns, and the larger dimension."""
    text = [values.dtype == object for values in (x, y)]
    if not any(text):
        return naive_r2(x, y), 1
    sizes = [len(np.unique(v)) - 1 for v, t in zip((x, y), text, strict=True) if t]
    if all(text):
        return naive_v2(x, y), max(sizes)
    return (naive_eta2(x, y) if text[1] else naive_eta2(y, x)), sizes[0]


def naive_similarity(table, power=2):
    columns = [
        c.to_numpy(object if is_string_dtype(c.dtype) else float)
        for _, c in table.items()
    ]
    m, n = table.shape
    w = np.ones((n, n))
    for j in range(n):
        for k in range(j):
            v, larger = naive_square(columns[j], columns[k])
            price = ((m - 2) / (m - 1 - larger)) ** power
            square = 1.0 - (1.0 - v) * price
            square = 0.0 if price != 1.0 and square <= 1e-12 else square
            w[j, k] = w[k, j] = np.sqrt(square)
    return w


def source_of(table):
    source, left_out = open_source(code_table(table), "mixed")
    assert not left_out.any()
    return source


def all_tiles(table, what="tile"):
    """Return a matrix from the tiles of a source, those of the upper triangle."""
    source = source_of(table)
    size, n = source.block, source.n
    whole = np.zeros((-(-n // size) * size,) * 2)
    for i in range(-(-n // size)):
        for j in range(i, -(-n // size)):
            rows, cols = (
                slice(i * size, (i + 1) * size),
                slice(j * size, (j + 1) * size),
            )
            whole[rows, cols] = getattr(source, what)(i, j)
            whole[cols, rows] = whole[rows, cols].T
    return whole[:n, :n]


FRAMES = {
    "small": frame(),
    "two levels": frame(levels=(2, 2, 2)),
    "no numbers": frame(numbers=0, levels=(3, 4, 5, 6, 7)),
    "many levels": frame(m=40, levels=(20, 30, 35, 2)),
    "few rows": frame(m=8, levels=(2, 3, 4), seed=3),
    "several tiles": frame(m=30, numbers=16, levels=(2, 3, 4, 5, 6) * 4),
}
# More features than fit into one tile of the usual size.
WIDE = frame(m=30, numbers=150, levels=(2, 3, 4, 5, 6) * 30)


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch, request):
    if "several tiles" in request.node.name:
        monkeypatch.setattr("franet.pairs.similarity._mixed.block_size", lambda n: 8)


@pytest.mark.kernels
@pytest.mark.parametrize("name", FRAMES)
def test_equals_the_textbook(name):
    found = 1.0 - all_tiles(FRAMES[name])
    np.testing.assert_allclose(found, naive_similarity(FRAMES[name]), atol=1e-12)


def basis(column):
    """Return an orthonormal basis of the centred space of a column."""
    values = column.to_numpy()
    if is_string_dtype(column.dtype):
        values = (values[:, None] == np.unique(values)).astype(float)
    values = values.reshape(len(values), -1)
    left, length, _ = np.linalg.svd(values - values.mean(axis=0), full_matrices=False)
    return left[:, length > 1e-9 * length[0]]


@pytest.mark.parametrize("name", ["small", "no numbers", "many levels"])
def test_squares_are_those_of_spaces(name):
    table = FRAMES[name]
    bases = [basis(column) for _, column in table.items()]
    expected = [[((a.T @ b) ** 2).sum() for b in bases] for a in bases]
    np.testing.assert_allclose(all_tiles(table, "squares"), expected, atol=1e-12)


def test_known_answers():
    table = frame(numbers=1, levels=(3, 5))
    squares = all_tiles(table, "squares")
    a, b = table["c0"].to_numpy(), table["c1"].to_numpy()
    v = association(counts(a, b), method="cramer", correction=False)
    assert np.sqrt(squares[1, 2] / 2) == pytest.approx(v, abs=1e-12)
    groups = [table["n0"][a == x] for x in np.unique(a)]
    f, m = stats.f_oneway(*groups).statistic, len(table)
    assert squares[0, 1] == pytest.approx(2 * f / (2 * f + m - 3), abs=1e-12)


def test_one_factor_would_be_the_epsilon_of_kelley():
    # ε² = 1 - (1 - η²)(m - 1)/(m - k), for k levels; numbers pay (m - 1)/(m - 2).
    table = frame(numbers=1, levels=(5,))
    eta2, m = all_tiles(table, "squares")[0, 1], len(table)
    epsilon2 = 1 - (1 - eta2) * (m - 1) / (m - 5)
    once = (1 - epsilon2) * (m - 2) / (m - 1)
    twice = once**2 / (1 - eta2)
    w = 1.0 - all_tiles(table)[0, 1]
    assert w == pytest.approx(np.sqrt(1 - twice), abs=1e-12)
    assert w < np.sqrt(epsilon2) < np.sqrt(eta2)


def test_two_levels_are_a_number():
    random = np.random.default_rng(0)
    x, a, b = random.normal(size=50), random.random(50) < 0.4, random.random(50) < 0.7
    one, other = a.astype(str).astype(object), b.astype(str).astype(object)
    r2 = naive_r2(x, a * 1.0)
    assert r2 == pytest.approx(naive_eta2(x, one), rel=1e-12)
    assert naive_r2(a * 1.0, b * 1.0) == pytest.approx(naive_v2(one, other), rel=1e-12)
    rest = frame(m=50, levels=(3, 5))
    kinds = [
        a,
        a.astype(int),
        3.0 - a,
        one,
        pd.Categorical(one),
        pd.array(a, "boolean"),
    ]
    fits = [FRANe(similarity="mixed").fit(rest.assign(a=kind)) for kind in kinds]
    for fitted in fits[1:]:
        np.testing.assert_allclose(fitted.scores_, fits[0].scores_, rtol=1e-12)
        np.testing.assert_array_equal(fitted.ranking_, fits[0].ranking_)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.filterwarnings("ignore::franet.exceptions.DegenerateRankingWarning")
def test_numbers_alone_have_the_absolute_correlation(name):
    for table in (TABLES[name], sparse.csr_array(TABLES[name])):
        mixed = FRANe(similarity="mixed").fit(table)
        absolute = FRANe(similarity="abs-correlation").fit(table)
        np.testing.assert_array_equal(mixed.thresholds_, absolute.thresholds_)
        np.testing.assert_array_equal(mixed.scores_, absolute.scores_)


def test_numbers_beside_categories_too():
    table = WIDE
    numbers = [j for j, name in enumerate(table) if name.startswith("n")]
    r = np.corrcoef(table.iloc[:, numbers].to_numpy().T)
    found = 1.0 - all_tiles(table)[np.ix_(numbers, numbers)]
    np.testing.assert_allclose(found, np.abs(r), atol=1e-13)


@pytest.mark.parametrize("name", ["small", "many levels", "several tiles"])
def test_ranking_equals_that_of_the_textbook(name):
    table = FRAMES[name]
    choice = {"n_thresholds": 30, "min_mean_degree": 2}
    ranker = FRANe(similarity="mixed", **choice).fit(table)
    w = naive_similarity(table)
    expected = FRANe(similarity="precomputed", **choice).fit(w)
    assert ranker.winner_ == expected.winner_
    np.testing.assert_allclose(ranker.thresholds_, expected.thresholds_, atol=1e-11)
    np.testing.assert_allclose(ranker.scores_, expected.scores_, rtol=1e-9)
    edges = ranker.network_.adjacency
    assert abs(edges - expected.network_.adjacency).max() < 1e-11
    assert edges.max() <= 1.0


def test_threads_do_not_matter():
    one = FRANe(similarity="mixed", n_jobs=1).fit(WIDE)
    same(FRANe(similarity="mixed", n_jobs=3).fit(WIDE), one)


def test_order_and_names_do_not_matter():
    table = frame(m=50)
    ranker = FRANe(similarity="mixed").fit(table)
    renamed = table.replace({f"level {x}": f"{-x}" for x in range(9)})
    same(FRANe(similarity="mixed").fit(renamed), ranker)
    shuffled = table.sample(frac=1, random_state=0)
    other = FRANe(similarity="mixed").fit(shuffled)
    np.testing.assert_allclose(other.scores_, ranker.scores_, rtol=1e-9)


def test_independent_and_equal_categories():
    grid = pd.DataFrame(
        [(a, b, a + b, a) for a in "xyz" for b in "pqrst" for _ in range(4)],
        columns=["a", "b", "both", "copy"],
    )
    w = 1.0 - all_tiles(grid)
    assert w[0, 1] == 0.0  # crossed: exactly nothing
    assert w[0, 2] == w[1, 2] == w[0, 3] == 1.0  # one determines the other
    np.testing.assert_array_equal(w, w.T)


# Columns of many levels explain much by chance.


def noise(m, seed):
    random = np.random.default_rng(seed)
    table = pd.DataFrame(random.normal(size=(m, 12))).add_prefix("n")
    for k in (3, 10, m // 4, m // 2, m - m // 5):
        levels = random.permutation(np.arange(m) % k)
        table[f"c{k}"] = [f"level {x}" for x in levels]
    return table


def test_many_levels_do_not_win_by_chance():
    first, plain, kelley = [], [], []
    for seed in range(20):
        table = noise(40, seed)
        ranker = FRANe(similarity="mixed", n_jobs=1).fit(table)
        first.append(table.columns[ranker.ranking_ == 1][0])
        for power, found in enumerate((plain, kelley)):
            w = naive_similarity(table, power)
            ranker = FRANe(similarity="precomputed", n_jobs=1).fit(w)
            found.append(table.columns[ranker.ranking_ == 1][0])
    assert plain == ["c32"] * 20  # or there would be nothing to correct
    assert kelley.count("c32") > 10  # or one factor would do
    assert not {"c20", "c32"} & set(first)


def test_many_levels_with_something_to_tell():
    random = np.random.default_rng(0)
    city = random.integers(60, size=600)
    table = pd.DataFrame(
        {
            "city": [f"city {x}" for x in city],
            "country": [f"country {x % 7}" for x in city],
            "income": city % 7 + 0.3 * random.normal(size=600),
            "weather": np.sin(city) + 0.1 * random.normal(size=600),
        }
    )
    w = 1.0 - all_tiles(table)
    assert w[0, 1] == 1.0
    assert w[0, 2] > 0.98
    assert w[0, 3] > 0.98
    assert w[2, 3] < 0.3


def test_identifiers_are_left_out_with_a_warning():
    table = frame()
    expected = FRANe(similarity="mixed").fit(table)
    table.insert(1, "id", [f"customer {i}" for i in range(60)])
    message = r"^Column 'id' \(1\): every row has a text of its own.* Drop them\.$"
    with pytest.warns(UserWarning, match=message) as caught:
        ranker = FRANe(similarity="mixed").fit(table)
    assert caught[0].filename == __file__
    assert list(np.flatnonzero(ranker.constant_)) == [1]
    assert ranker.scores_[1] == 0.0
    assert ranker.ranking_[1] == 9
    np.testing.assert_array_equal(np.delete(ranker.scores_, 1), expected.scores_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker.plan(table)
        ranker.network_.at(ranker.threshold_ / 2, table)
    for j in range(7):
        table[f"mail {j}"] = table["id"]
    with pytest.warns(UserWarning, match=r"'mail 3' \(12\) and 3 more: every row"):
        FRANe(similarity="mixed").fit(table)


def test_nothing_to_compare():
    table = pd.DataFrame({"id": list("abcd"), "mail": list("efgh"), "one": ["x"] * 4})
    with pytest.raises(DataError, match=r"Every column is constant or .* Drop such"):
        FRANe(similarity="mixed").fit(table)


def test_constant_columns():
    table = frame().assign(one="x", zero=0.0)
    ranker = FRANe(similarity="mixed").fit(table)
    assert list(table.columns[ranker.constant_]) == ["one", "zero"]


def test_plan():
    plan = FRANe(similarity="mixed").plan(WIDE)
    assert plan["n_features"] == 300
    assert plan["block"] == 256
    assert plan["memory"] > source_of(WIDE).nbytes > 300 * 30 * 8


def test_memory_does_not_grow_with_levels():
    few, many = (frame(m=200, levels=(k,) * 8) for k in (3, 190))
    sizes = [source_of(table).nbytes for table in (few, many)]
    assert isinstance(source_of(few), MixedSource)
    assert sizes[1] < 1.5 * sizes[0]
