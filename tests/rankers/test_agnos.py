"""AgnoS: its gradients, its training, and rankings that are known."""

from __future__ import annotations

import numpy as np
import pytest
from numpydoc.validate import validate
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import estimator_checks_generator

from franet._common.progress import listening
from franet.engine.device import cuda_ready
from franet.exceptions import DegenerateRankingWarning
from franet.rankers import AgnoS, get
from franet.rankers._agnos import Network, Training, gradients, initial, train
from franet.rankers.agnos import hidden_units, standardize

VARIANTS = ["slack", "weights"]


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def planted(seed=0):
    """Return 36 columns of three kinds, and 40 of noise; the kind of each column."""
    kinds = np.r_[np.repeat([0, 1, 2], [20, 10, 6]), np.full(40, 3)]
    X = normal(120, 76, seed=seed)
    hidden = normal(120, 3, seed=seed + 1)
    X[:, :36] = hidden[:, kinds[:36]] + 0.4 * X[:, :36]
    order = np.random.default_rng(seed).permutation(76)
    return X[:, order], kinds[order]


def start(n, d, variant, seed=0):
    return initial(n, d, variant, np.random.RandomState(seed), np.dtype(np.float64))


def settings(variant, **other):
    given = {"penalty": 1.3, "learning_rate": 0.01, "max_iter": 25, "tol": 0.0}
    return AgnoS(variant=variant, **(given | {"patience": 100} | other))


def literal_loss(X, network, penalty, variant):
    """Return the loss as the docstring writes it, number by number."""
    a, W, b, V, c = network
    total = 0.0
    for row in X:
        hidden = np.tanh((row * a) @ W + b)
        total += sum((hidden @ V[:, i] + c[i] - x) ** 2 for i, x in enumerate(row))
    if variant == "slack":
        return total / len(X) + penalty * sum(abs(slack) for slack in a)
    return total / len(X) + penalty * sum(np.sqrt((w**2).sum()) for w in W)


@pytest.mark.parametrize("variant", VARIANTS)
def test_gradients_against_finite_differences(variant):
    X = standardize(normal(15, 7))
    network = start(7, 3, variant)
    for k, array in enumerate(network):
        if variant == "slack" or k > 0:
            array += 0.2 * normal(*array.shape, seed=k)
    network.slack[2:4] *= -1.0 if variant == "slack" else 1.0
    square = float((X**2).sum())
    loss, found = gradients(X, network, 1.3, variant, square)
    assert loss == pytest.approx(literal_loss(X, network, 1.3, variant), rel=1e-12)
    step = 1e-6
    for k, (array, gradient) in enumerate(zip(network, found, strict=True)):
        if variant == "weights" and k == 0:
            assert not gradient.any()  # the slack is no parameter here
            continue
        for at in np.ndindex(array.shape):
            kept = array[at]
            array[at] = kept + step
            above = literal_loss(X, network, 1.3, variant)
            array[at] = kept - step
            below = literal_loss(X, network, 1.3, variant)
            array[at] = kept
            expected = (above - below) / (2 * step)
            assert gradient[at] == pytest.approx(expected, rel=1e-6, abs=1e-7)


def test_the_penalty_has_no_gradient_at_zero():
    X = standardize(normal(10, 4))
    square = float((X**2).sum())
    for variant in VARIANTS:
        network = start(4, 2, variant)
        network.slack[1] = 0.0
        network.encoder[1] = 0.0
        loose = gradients(X, network, 0.0, variant, square)[1]
        tight = gradients(X, network, 5.0, variant, square)[1]
        assert tight.slack[1] == loose.slack[1]
        np.testing.assert_array_equal(tight.encoder[1], loose.encoder[1])


def test_adam_by_hand():
    X = standardize(normal(10, 4))
    network = start(4, 2, "weights")
    square = float((X**2).sum())
    moving = Network(*map(np.copy, network))
    state = [(np.zeros_like(p), np.zeros_like(p)) for p in moving]
    for t in range(1, 3):
        gradient = gradients(X, moving, 1.3, "weights", square)[1]
        for p, g, (u, v) in zip(moving, gradient, state, strict=True):
            u[...] = 0.9 * u + 0.1 * g
            v[...] = 0.999 * v + 0.001 * g**2
            p -= 0.01 * (u / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    trained, training = train(X, network, settings("weights", max_iter=3))
    # The loss drops, so that the best network is the one before the last step.
    assert training.losses == sorted(training.losses, reverse=True)
    np.testing.assert_allclose(trained.decoder, moving.decoder, rtol=1e-9)
    np.testing.assert_allclose(trained.encoder, moving.encoder, rtol=1e-9)
    np.testing.assert_array_equal(network.decoder, start(4, 2, "weights").decoder)


def test_encoder_has_unit_norm():
    X = standardize(normal(20, 6))
    trained = train(X, start(6, 3, "slack"), settings("slack"))[0]
    np.testing.assert_allclose(np.linalg.norm(trained.encoder, axis=0), 1.0)
    free = train(X, start(6, 3, "weights"), settings("weights"))[0]
    assert np.ptp(np.linalg.norm(free.encoder, axis=0)) > 0.01
    np.testing.assert_array_equal(free.slack, 1.0)


def test_standardized():
    X = normal(30, 5) * [1e-200, 1e200, 1.0, 3.0, 1e-3] + [0, 0, 1e6, 2.0, 0]
    Z = standardize(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-14)
    np.testing.assert_allclose((Z**2).mean(axis=0), 1.0, rtol=1e-12)
    assert standardize(X[:, 2:].astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_planted_kinds_come_before_noise(variant, seed):
    X, kinds = planted(seed)
    ranker = AgnoS(10, variant=variant, n_hidden=3, random_state=seed).fit(X)
    assert set(kinds[ranker.support_]) == {0, 1, 2}  # no noise, and not one kind only


@pytest.mark.parametrize("variant", VARIANTS)
def test_attributes_and_repeatability(variant):
    X, _ = planted()
    one = AgnoS(variant=variant, random_state=3).fit(X)
    two = AgnoS(variant=variant, random_state=3).fit(X)
    np.testing.assert_array_equal(one.scores_, two.scores_)
    assert one.n_hidden_ == hidden_units(standardize(X)) > 1
    assert one.n_iter_ == len(one.loss_curve_) < 2000
    assert one.loss_curve_[-1] < one.loss_curve_[0]
    assert one.backend_ == "numpy" or cuda_ready()
    assert (one.scores_ >= 0.0).all()
    other = AgnoS(variant=variant, random_state=4).fit(X)
    assert not np.array_equal(one.scores_, other.scores_)


def test_scores_are_those_of_the_best_network():
    X, _ = planted()
    ranker = AgnoS(n_hidden=3, random_state=0, backend="numpy").fit(X)
    begin = start(X.shape[1], 3, "slack", seed=0)
    options = AgnoS()
    network, training = train(standardize(X), begin, options)
    np.testing.assert_array_equal(ranker.scores_, np.abs(network.slack))
    loss = literal_loss(standardize(X), network, 1.0, "slack")
    assert loss == pytest.approx(min(training.losses), rel=1e-10)
    weights = AgnoS(variant="weights", n_hidden=3, random_state=0, backend="numpy")
    begin = start(X.shape[1], 3, "weights", seed=0)
    options = AgnoS(variant="weights")
    network = train(standardize(X), begin, options)[0]
    np.testing.assert_array_equal(
        weights.fit(X).scores_, np.abs(network.encoder).max(axis=1)
    )


def test_units_of_columns_do_not_matter():
    X, _ = planted()
    scale = 2.0 ** np.random.default_rng(0).integers(-8, 8, X.shape[1])
    np.testing.assert_array_equal(
        AgnoS(random_state=0, n_hidden=2).fit(X * scale).scores_,
        AgnoS(random_state=0, n_hidden=2).fit(X).scores_,
    )


def test_a_larger_penalty_gives_smaller_scores():
    X, _ = planted()
    totals = [
        AgnoS(penalty=penalty, n_hidden=3, random_state=0).fit(X).scores_.sum()
        for penalty in (0.1, 1.0, 10.0)
    ]
    assert totals == sorted(totals, reverse=True)


def test_constant_columns_come_last():
    X, _ = planted()
    X[:, [4, 50]] = [7.0, 0.1]
    ranker = AgnoS(n_hidden=2, random_state=0).fit(X)
    np.testing.assert_array_equal(ranker.scores_[[4, 50]], 0.0)
    assert set(ranker.ranking_[[4, 50]]) == {75, 76}
    left = np.delete(X, [4, 50], axis=1)
    alone = AgnoS(n_hidden=2, random_state=0).fit(left)
    np.testing.assert_array_equal(np.delete(ranker.scores_, [4, 50]), alone.scores_)


def test_only_constant_columns():
    with pytest.warns(DegenerateRankingWarning, match="All columns are constant"):
        ranker = AgnoS().fit(np.ones((6, 3)))
    np.testing.assert_array_equal(ranker.scores_, 0.0)


def test_sparse_is_the_same():
    X = np.where(np.abs(normal(40, 20)) > 0.8, normal(40, 20), 0.0)
    dense = AgnoS(random_state=0, n_hidden=2).fit(X)
    for kind in (sparse.csr_array, sparse.csc_array):
        found = AgnoS(random_state=0, n_hidden=2).fit(kind(X))
        np.testing.assert_array_equal(found.scores_, dense.scores_)


def test_float32_is_close():
    X, _ = planted()
    options = {"random_state": 0, "n_hidden": 3, "max_iter": 30, "patience": 30}
    with pytest.warns(ConvergenceWarning, match=r"max_iter=30 iterations.*Raise"):
        wide = AgnoS(**options).fit(X)
    with pytest.warns(ConvergenceWarning):
        narrow = AgnoS(**options).fit(X.astype(np.float32))
    assert narrow.scores_.dtype == np.float64
    np.testing.assert_allclose(narrow.scores_, wide.scores_, atol=1e-3)


def test_hidden_units_where_none_can_be_seen():
    assert hidden_units(standardize(normal(3, 8))) == 2
    assert hidden_units(np.eye(30)) == 10  # all rows are equally far apart


def test_training_stops():
    watch = Training(settings("slack", tol=0.1, patience=3), n_features=10)
    drops = [watch.better(x) for x in (10.0, 8.0, 7.9, 8.5)]
    assert drops == [True, True, True, False]
    assert not watch.converged
    assert not watch.better(7.95)
    assert watch.converged
    watch = Training(settings("slack", tol=0.1, patience=3), n_features=10)
    for loss in (10.0, 9.9, 9.9, 8.9, 8.8, 8.7):
        watch.better(loss)
    assert not watch.converged  # the drop to 8.9 started the count again


def test_a_slow_fall_is_no_warning():
    watch = Training(settings("slack", tol=0.01, patience=2), n_features=10)
    for loss in (10.0, 8.0, 6.0):
        watch.better(loss)
    assert watch.dropping()
    for loss in (5.7, 5.4):
        watch.better(loss)
    assert not watch.converged
    assert not watch.dropping()  # 0.6 in two iterations, and 1.0 would be fast


def test_progress():
    heard = []
    X, _ = planted()
    with listening(lambda *values: heard.append(values)):
        AgnoS(n_hidden=2, random_state=0, backend="numpy").fit(X)
    assert heard[:2] == [("AgnoS", 0, 2000), ("AgnoS", 10, 2000)]
    assert heard[-1] == ("AgnoS", 2000, 2000)


def test_registered():
    assert get("agnos") is AgnoS


def test_docstring():
    errors = validate("franet.rankers.agnos.AgnoS")["errors"]
    wrong = [pair for pair in errors if pair[0][:2] in ("PR", "SS", "RT")]
    assert wrong == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variant": "gradients"}, "'variant' parameter"),
        ({"n_hidden": 0}, "'n_hidden' parameter"),
        ({"penalty": -1.0}, "'penalty' parameter"),
        ({"learning_rate": 0.0}, "'learning_rate' parameter"),
        ({"max_iter": 0}, "'max_iter' parameter"),
        ({"patience": 0}, "'patience' parameter"),
        ({"backend": 3}, "'backend' parameter"),
        (
            {"backend": "jax"},
            "backend='jax' cannot be used here; choose 'auto', 'numpy'",
        ),
        ({"backend": "dask"}, "backend='dask' cannot be used here"),
        ({"backend": "tcp://host:8786"}, "backend='tcp://host:8786' cannot be used"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        AgnoS(**options).fit(normal(10, 4))


CHECKS = [
    pair
    for ranker in (AgnoS(), AgnoS(1, variant="weights", n_hidden=1, random_state=0))
    for pair in estimator_checks_generator(ranker)
]


def name_of(value):
    return getattr(getattr(value, "func", None), "__name__", None)


# The checks fit tables of a few columns of noise, where the ranking may tie.
@pytest.mark.filterwarnings("ignore::franet.exceptions.DegenerateRankingWarning")
@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=name_of)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
