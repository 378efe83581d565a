"""The autoencoder of AgnoS in NumPy: gradients by hand, and Adam.

No array of the size of the table is made while training. With H the hidden layer
(m × d) and V, c the decoder, the residual HV + c − X appears only in products:
its square, its product with Vᵀ and the product of Hᵀ with it. All of them follow from
X [A, Vᵀ] and Xᵀ [G, H], two passes over the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from franet._common.progress import report

__all__ = ["Network", "Settings", "Training", "gradients", "initial", "train"]

Variant = Literal["slack", "weights"]
Array = NDArray[np.floating]

# The constants of Adam, as its paper gives them.
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


@dataclass
class Network:
    """The parameters of the autoencoder, or their gradients.

    ``slack`` (n), ``encoder`` (n × d), ``bias`` (d), ``decoder`` (d × n) and
    ``offset`` (n).
    """

    slack: Array
    encoder: Array
    bias: Array
    decoder: Array
    offset: Array

    def arrays(self) -> list[Array]:
        """Return the arrays in a fixed order."""
        return [getattr(self, field.name) for field in fields(self)]

    def copy(self) -> Network:
        """Return a copy that shares nothing."""
        return Network(*(array.copy() for array in self.arrays()))


@dataclass(frozen=True)
class Settings:
    """How to train: what both back ends are given."""

    variant: Variant
    penalty: float
    learning_rate: float
    max_iter: int
    tol: float
    patience: int


class Training:
    """Watches the loss: keeps its values, and says when to stop.

    A drop counts if it is more than ``tol`` times the number of features, which is the
    loss of a network that looks at nothing. The loss itself may go to zero slowly, and
    is no measure.
    """

    def __init__(self, settings: Settings, n_features: int) -> None:
        self.settings = settings
        self.step = settings.tol * n_features
        self.losses: list[float] = []
        self.best = np.inf
        self.converged = False
        self._mark = np.inf
        self._since = 0

    def better(self, loss: float) -> bool:
        """Take note of a loss; return whether it is the smallest so far."""
        self.losses.append(loss)
        is_best = loss < self.best
        self.best = min(loss, self.best)
        if loss < self._mark - self.step:
            self._mark, self._since = loss, 0
        else:
            self._since += 1
        self.converged = self._since >= self.settings.patience
        return is_best

    def dropping(self) -> bool:
        """Return whether it ended too early: the best loss fell much of late.

        Much is ten times what keeps the training going: a slow fall never ends.
        """
        earlier = self.losses[: -self.settings.patience] or self.losses[:1]
        return not self.converged and min(earlier) - self.best > 10.0 * self.step

    def rounds(self) -> Iterator[int]:
        """Yield the number of each iteration until it is time to stop."""
        total = self.settings.max_iter
        for done in range(total):
            if done % 10 == 0:
                report("AgnoS", done, total)
            yield done
            if self.converged:
                break
        report("AgnoS", total, total)


def initial(
    n: int, d: int, variant: Variant, rng: np.random.RandomState, dtype: np.dtype
) -> Network:
    """Return a start: Glorot's uniform weights, zero biases, slack one."""
    bound = np.sqrt(6.0 / (n + d))
    network = Network(
        slack=np.ones(n, dtype),
        encoder=rng.uniform(-bound, bound, (n, d)).astype(dtype),
        bias=np.zeros(d, dtype),
        decoder=rng.uniform(-bound, bound, (d, n)).astype(dtype),
        offset=np.zeros(n, dtype),
    )
    if variant == "slack":
        _normalise(network)
    return network


def _normalise(network: Network) -> None:
    """Give the encoder weights of each hidden unit the norm one, in place."""
    norms = np.sqrt(np.einsum("ij,ij->j", network.encoder, network.encoder))
    network.encoder /= np.where(norms > 0.0, norms, 1.0)


def gradients(
    X: Array, network: Network, penalty: float, variant: Variant, square: float
) -> tuple[float, Network]:
    """Return the loss and its gradients.

    The columns of X sum to zero; `square` is the sum of X².
    """
    m = len(X)
    a, W, b, V, c = network.arrays()
    d = W.shape[1]
    A = a[:, None] * W
    both = X @ np.concatenate([A, V.T], axis=1)
    H = np.tanh(both[:, :d] + b)
    XV = both[:, d:]
    # The residual R = HV + c − X: R Vᵀ, and the square of R.
    RV = H @ (V @ V.T) + V @ c - XV
    total = H.sum(axis=0)
    loss = (square + np.vdot(H, RV) - np.vdot(H, XV)) / m + c @ c + total @ (V @ c) / m
    P = (2.0 / m) * RV * (1.0 - H * H)
    back = X.T @ np.concatenate([P, H], axis=1)
    XP, XH = back[:, :d], back[:, d:]
    gradient = Network(
        slack=np.einsum("ij,ij->i", XP, W),
        encoder=a[:, None] * XP,
        bias=P.sum(axis=0),
        decoder=(2.0 / m) * ((H.T @ H) @ V + np.outer(total, c) - XH.T),
        offset=(2.0 / m) * (total @ V) + 2.0 * c,
    )
    return float(loss) + _penalise(network, gradient, penalty, variant), gradient


def _penalise(
    network: Network, gradient: Network, penalty: float, variant: Variant
) -> float:
    """Add the gradient of the penalty, in place, and return its value."""
    if variant == "slack":
        gradient.slack += penalty * np.sign(network.slack)
        return penalty * float(np.abs(network.slack).sum())
    gradient.slack[:] = 0.0  # the slack stays one
    norms = np.sqrt(np.einsum("ij,ij->i", network.encoder, network.encoder))
    safe = np.where(norms > 0.0, norms, 1.0)
    gradient.encoder += penalty * network.encoder / safe[:, None]
    return penalty * float(norms.sum())


def _adam(network: Network, learning_rate: float) -> Callable[[Network], None]:
    """Return a function that takes one step of Adam, in place."""
    first = [np.zeros_like(array) for array in network.arrays()]
    second = [np.zeros_like(array) for array in network.arrays()]
    steps = 0

    def step(gradient: Network) -> None:
        nonlocal steps
        steps += 1
        rate = learning_rate / (1.0 - BETA1**steps)
        correction = np.sqrt(1.0 - BETA2**steps)
        for x, g, u, v in zip(
            network.arrays(), gradient.arrays(), first, second, strict=True
        ):
            u += (1.0 - BETA1) * (g - u)
            v += (1.0 - BETA2) * (g * g - v)
            x -= rate * u / (np.sqrt(v) / correction + EPSILON)

    return step


def train(X: Array, start: Network, settings: Settings) -> tuple[Network, Training]:
    """Train from `start` and return the network with the smallest loss."""
    # The products are thin: threads wait for each other longer than they work.
    with threadpool_limits(limits=1, user_api="blas"):
        return _train(X, start, settings)


def _train(X: Array, start: Network, settings: Settings) -> tuple[Network, Training]:
    network, best = start.copy(), start
    step = _adam(network, settings.learning_rate)
    training = Training(settings, X.shape[1])
    square = float(np.vdot(X, X))
    for _ in training.rounds():
        loss, gradient = gradients(
            X, network, settings.penalty, settings.variant, square
        )
        if training.better(loss):
            best = network.copy()
        step(gradient)
        if settings.variant == "slack":
            _normalise(network)
    return best, training
