"""AgnoS against what its paper published: intrinsic dimensions, and R² of 5-NN.

``python benchmarks/agnos.py`` measures all eight sets, ``--quick`` the four small
ones; ``--folds 3`` only the first three of ten folds; ``--seeds 1`` one start of the
network. ``--only nci9`` measures time and memory of one fit. ``FRANET_DATA`` names the
folder with the data sets.

R² of a feature is 1 − SSE / SST for the prediction by the five nearest neighbours
(Euclidean, columns standardized) on the 100 best features; the mean over all features
that vary is printed, for AgnoS and for 100 columns chosen at random, in two ways:

- *same rows*: ranked, fitted and measured on the whole table. A row is among its own
  five neighbours. That the published values were measured so is an inference: they are
  far above anything on new rows, and close to these on all sets but Prostate-GE.
- *new rows*: the ten folds of the evaluation protocol, ranked and fitted on the
  training part, measured on the rows left out; SST about the mean of the training part.

``--why`` asks why a set (``--only``; Prostate-GE, if none is named) differs from what
was published: one thing is changed at a time, and R² on the same rows is split into the
part along the first principal component and the rest. ``--change "own units"`` makes
that change only, and may be given several times.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from franet.rankers import AgnoS, RandomRanking
from franet.rankers import _agnos as library
from franet.rankers._agnos import Network, Training, copy_of, initial
from franet.rankers.agnos import hidden_units, standardize
from franet.rankers.intrinsic_dimension import intrinsic_dimension

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from data import load
from protocol import N_FOLDS, folds, predict

# The set: intrinsic dimension and R² at 100 features, from Doquet & Sebag 2019.
PUBLISHED = {
    "arcene": (40, 0.610),
    "Isolet": (9, 0.763),
    "ORL": (6, 0.800),
    "pixraw10P": (4, 0.855),
    "Prostate-GE": (23, 0.662),
    "TOX-171": (15, 0.581),
    "warpPIE10P": (3, 0.910),
    "Yale": (10, 0.703),
}
QUICK = ("ORL", "warpPIE10P", "Yale", "Isolet")
N_CHOSEN = 100
SETTINGS = AgnoS()


@dataclass(frozen=True)
class Change:
    """The library's definition; a change replaces one of these."""

    n_hidden: int = 0  # the intrinsic dimension
    settings: AgnoS = SETTINGS
    tanh_decoder: bool = False
    unit_norm: str = "of each hidden unit"
    batch: int = 0  # the whole table
    table: Callable[[np.ndarray], np.ndarray] = standardize
    columns: Callable[[np.ndarray], np.ndarray] = lambda X: np.ones(X.shape[1], bool)


def trained_with(**other: Any) -> Change:
    return Change(settings=clone(SETTINGS).set_params(**other))


def centred(X: np.ndarray) -> np.ndarray:
    return X - X.mean(axis=0)


def clipped(X: np.ndarray) -> np.ndarray:
    return centred(np.clip(standardize(X), -3.0, 3.0))


def no_copies(X: np.ndarray) -> np.ndarray:
    Z = standardize(X)
    return ~(np.triu(np.abs(Z.T @ Z) / len(Z), 1) > 1.0 - 1e-9).any(axis=0)


def no_mode(X: np.ndarray) -> np.ndarray:
    """Say of each column whether no value fills more than half of it."""
    return np.array([np.unique(x, return_counts=True)[1].max() for x in X.T]) <= (
        len(X) / 2
    )


CHANGES = {
    "none": Change(),
    **{f"{d} hidden units": Change(n_hidden=d) for d in (1, 2, 4, 8, 16, 23, 30)},
    **{f"penalty {x:g}": trained_with(penalty=x) for x in (0.1, 3.0, 10.0)},
    **{f"step {x:g}": trained_with(learning_rate=x) for x in (0.003, 0.1)},
    **{
        f"{x} iterations": trained_with(max_iter=x, tol=0.0, patience=x)
        for x in (25, 100, 1000)
    },
    "batches of 32": Change(batch=32),
    "tanh decoder": Change(tanh_decoder=True),
    "unit norm of each input": Change(unit_norm="of each input"),
    "unit norm of all weights": Change(unit_norm="of all weights"),
    "no unit norm": Change(unit_norm=""),
    "no affine copies": Change(columns=no_copies),
    "no column with a mode": Change(columns=no_mode),
    "clipped at 3": Change(table=clipped),
    "own units": Change(table=centred),
}


def varying(X: np.ndarray) -> np.ndarray:
    return X[:, X.max(axis=0) > X.min(axis=0)]


def chosen_by(ranker: Any, Z: np.ndarray) -> np.ndarray:
    return np.argsort(ranker.fit(Z).ranking_, kind="stable")[:N_CHOSEN]


def same_rows(X: np.ndarray, ranker: Any, n_seeds: int) -> float:
    """Return the mean over features and seeds of R² on the rows that were fitted."""
    Z = standardize(X)
    found = []
    for seed in range(n_seeds):
        chosen = chosen_by(ranker.set_params(random_state=seed), Z)
        found.append(1.0 - ((Z - predict(Z, Z, chosen)) ** 2).mean())
    return float(np.mean(found))


def new_rows(X: np.ndarray, ranker: Any, n_folds: int) -> float:
    """Return the mean over features of R² on the test parts of the first folds."""
    error, spread = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for _, (train, test) in zip(range(n_folds), folds(len(X)), strict=False):
        mean, std = X[train].mean(axis=0), X[train].std(axis=0)
        Z = (X - mean) / np.where(std > 0.0, std, 1.0)
        found = predict(Z[train], Z[test], chosen_by(ranker, Z[train]))
        error += ((Z[test] - found) ** 2).sum(axis=0)
        spread += (Z[test] ** 2).sum(axis=0)
    seen = spread > 0.0
    return float((1.0 - error[seen] / spread[seen]).mean())


def measure(name: str, options: argparse.Namespace) -> None:
    X = varying(load(name)[0])
    dimension, published = PUBLISHED[name]
    line = intrinsic_dimension(standardize(X))
    likely = intrinsic_dimension(standardize(X), method="mle")
    agnos = AgnoS(variant=options.variant, backend=options.backend)
    chance = RandomRanking()
    start = time.perf_counter()
    same = same_rows(X, agnos, options.seeds)
    seconds = (time.perf_counter() - start) / options.seeds
    print(
        f"{name:<12}{X.shape[0]:>6}{X.shape[1]:>7}{line:>8.2f}{likely:>7.2f}"
        f"{dimension:>6}{same:>11.3f}{same_rows(X, chance, options.seeds):>8.3f}"
        f"{published:>11.3f}{new_rows(X, agnos, options.folds):>10.3f}"
        f"{new_rows(X, chance, options.folds):>8.3f}{seconds:>8.1f}",
        flush=True,
    )


def normalise(network: Network, unit_norm: str) -> None:
    W = network.encoder
    if unit_norm:
        axis = {"of each hidden unit": 0, "of each input": 1}.get(unit_norm)
        W /= np.sqrt((W**2).sum(axis=axis, keepdims=True))


def literal_gradients(
    X: np.ndarray, network: Network, penalty: float, tanh_decoder: bool
) -> tuple[float, Network]:
    a, W, b, V, c = network
    H = np.tanh((X * a) @ W + b)
    output = np.tanh(H @ V + c) if tanh_decoder else H @ V + c
    R = output - X
    G = (2.0 / len(X)) * R * (1.0 - output**2 if tanh_decoder else 1.0)
    P = (G @ V.T) * (1.0 - H**2)
    XP = X.T @ P
    slack = np.einsum("ij,ij->i", XP, W) + penalty * np.sign(a)
    loss = (R**2).sum() / len(X) + penalty * np.abs(a).sum()
    gradient = Network(slack, a[:, None] * XP, P.sum(axis=0), H.T @ G, G.sum(axis=0))
    return float(loss), gradient


def literal_train(
    X: np.ndarray, start: Network, change: Change, rng: np.random.RandomState
) -> tuple[Network, Training]:
    """Train as the library does, but for what it has no setting for."""
    network, best = copy_of(start), start
    step = library._adam(network, change.settings.learning_rate)
    training = Training(change.settings, X.shape[1])
    left = np.empty(0, int)
    for _ in training.rounds():
        if len(left) < change.batch:
            left = rng.permutation(len(X))
        rows, left = left[: change.batch], left[change.batch :]
        loss, gradient = literal_gradients(
            X[rows] if change.batch else X,
            network,
            change.settings.penalty,
            change.tanh_decoder,
        )
        if training.better(loss):
            best = copy_of(network)
        step(gradient)
        normalise(network, change.unit_norm)
    return best, training


def slack_of(T: np.ndarray, d: int, change: Change, seed: int) -> tuple[Any, int]:
    """Return the slack variables and the number of iterations."""
    rng = np.random.RandomState(seed)
    start = initial(T.shape[1], d, "weights", rng, T.dtype)
    normalise(start, change.unit_norm)
    # The loss of a network that looks at nothing is the sum of the variances.
    tol = change.settings.tol * float((T**2).sum()) / T.size
    settings = clone(change.settings).set_params(tol=tol)
    if change.tanh_decoder or change.batch or change.unit_norm != Change.unit_norm:
        change = replace(change, settings=settings)
        network, training = literal_train(T, start, change, rng)
    else:
        network, training = library.train(T, start, settings)
    return np.abs(network.slack), len(training.losses)


class Judge:
    """R² of 5-NN on the same rows: the whole, along the first component, the rest."""

    def __init__(self, X: np.ndarray) -> None:
        self.X, self.Z = X, standardize(X)
        u = np.linalg.eigh(self.Z @ self.Z.T)[1][:, -1]
        v = self.Z.T @ u
        self.v = v / np.linalg.norm(v)
        self.first = self.Z @ self.v
        # The square of each feature's correlation with the first component.
        self.r2 = (self.Z.T @ self.first) ** 2 / (len(X) * (self.first**2).sum())

    def parts(self, chosen: np.ndarray) -> tuple[float, float, float, float]:
        """Return the three, and how close the chosen are to the first component."""
        R = self.Z - predict(self.Z, self.Z, chosen)
        error, all_error = ((R @ self.v) ** 2).sum(), (R**2).sum()
        spread, all_spread = (self.first**2).sum(), float(self.Z.size)
        return (
            1.0 - all_error / all_spread,
            1.0 - error / spread,
            1.0 - (all_error - error) / (all_spread - spread),
            self.r2[chosen].mean(),
        )

    def in_units(self, chosen: np.ndarray) -> float:
        """Return R² weighted by variance, neighbours and errors in the own units."""
        R = self.X - predict(self.X, self.X, chosen)
        return float(1.0 - (R**2).sum() / (centred(self.X) ** 2).sum())

    def show(self, title: str, choices: list[np.ndarray], note: str) -> None:
        """Print the means over the choices, and the range of the whole."""
        found = np.array([self.parts(chosen) for chosen in choices])
        whole, first, rest, r2 = found.mean(axis=0)
        units = np.mean([self.in_units(chosen) for chosen in choices])
        print(
            f"{title:<26}{whole:>7.3f}{np.ptp(found[:, 0]):>8.3f}{first:>8.3f}"
            f"{rest:>8.3f}{r2:>10.3f}{units:>10.3f}  {note}",
            flush=True,
        )


def why(name: str, wanted: list[str], n_seeds: int) -> None:
    X = varying(load(name)[0])
    judge, n, d = Judge(X), X.shape[1], hidden_units(standardize(X))
    print(
        f"{name}: the first component has {judge.r2.mean():.3f} of the variance; "
        f"{d} hidden units; published {PUBLISHED[name][1]:.3f}; {n_seeds} seeds\n"
        "change                         R²  spread   first    rest  r² first  in units"
    )
    drawn = [np.random.RandomState(s).permutation(n)[:N_CHOSEN] for s in range(n_seeds)]
    judge.show("all features", [np.arange(n)], "")
    judge.show("random features", drawn, "")
    for title in wanted:
        change = CHANGES[title]
        columns = np.flatnonzero(change.columns(X))
        T = change.table(X[:, columns])
        fits = [slack_of(T, change.n_hidden or d, change, s) for s in range(n_seeds)]
        choices = [
            columns[np.argsort(-slack, kind="stable")[:N_CHOSEN]] for slack, _ in fits
        ]
        note = f"{len(columns)} columns, {np.mean([k for _, k in fits]):.0f} iterations"
        judge.show(title, choices, note)
        if title == "none":
            half = N_CHOSEN // 2
            mixed = [
                np.r_[best[:half], other[:half]]
                for best, other in zip(choices, drawn, strict=True)
            ]
            judge.show("50 of these, 50 random", mixed, "")


def one_fit(name: str, variant: str, backend: str) -> None:
    X = load(name)[0]
    start = time.perf_counter()
    fitted = AgnoS(variant=variant, backend=backend, random_state=0).fit(X)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{name} {X.shape[0]} × {X.shape[1]}, {variant}, {fitted.backend_}: "
        f"{seconds:.1f} s, {memory:.0f} MB, {fitted.n_hidden_} hidden units, "
        f"{fitted.n_iter_} iterations"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--folds", type=int, default=N_FOLDS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--variant", default="slack", choices=["slack", "weights"])
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--only", action="append", help="a set; several times")
    parser.add_argument("--why", action="store_true", help="make all changes")
    parser.add_argument("--change", action="append", choices=CHANGES)
    options = parser.parse_args()
    if options.why or options.change:
        wanted = list(CHANGES) if options.why else options.change
        with threadpool_limits(limits=1, user_api="blas"):
            for name in options.only or ["Prostate-GE"]:
                why(name, wanted, options.seeds)
        return
    known = [name for name in options.only or PUBLISHED if name in PUBLISHED]
    for name in options.only or ():
        if name not in PUBLISHED:
            one_fit(name, options.variant, options.backend)
    if options.quick:
        known = [name for name in QUICK if name in known]
    if known:
        print(
            f"{options.variant}: {N_CHOSEN} features, {options.seeds} seeds, "
            f"{options.folds} of {N_FOLDS} folds\n"
            "set              m      n    line    mle known  same rows  random"
            "  published  new rows  random   s/fit"
        )
    for name in known:
        measure(name, options)


if __name__ == "__main__":
    main()
