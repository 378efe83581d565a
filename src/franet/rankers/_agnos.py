"""The autoencoder of AgnoS: one training, by NumPy or by torch.

In NumPy gradients are by hand, and no array of the size of the table is made while
training. With H the hidden layer (m × d) and V, c the decoder, the residual HV + c − X
appears only in products: its square, its product with Vᵀ and the product of Hᵀ with it.
All of them follow from X [A, Vᵀ] and Xᵀ [G, H], two passes over the table. In torch the
loss is as it is written, on any device; gradients and Adam are torch's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from franet._common.global_state import restored_state
from franet._common.progress import report
from franet.cover._arrays import host
from franet.engine.device import Place, choose_device, load

Array = NDArray[np.floating]
# The loss, and what copies the arrays of the network that has it.
Round = tuple[float, Callable[[], Any]]

# The constants of Adam, as its paper gives them.
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


class Network(NamedTuple):
    """The parameters of the autoencoder, or their gradients.

    ``slack`` (n), ``encoder`` (n × d), ``bias`` (d), ``decoder`` (d × n) and
    ``offset`` (n).
    """

    slack: Array
    encoder: Array
    bias: Array
    decoder: Array
    offset: Array


class Training:
    """Watches the loss: keeps its values, and says when to stop.

    A drop counts if it is more than ``tol`` times the number of features, which is the
    loss of a network that looks at nothing. The loss itself may go to zero slowly, and
    is no measure.

    Parameters
    ----------
    settings : AgnoS
        Whose `max_iter`, `tol` and `patience` hold.
    n_features : int
        Number of features.
    """

    def __init__(self, settings: Any, n_features: int) -> None:
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
    n: int, d: int, variant: str, rng: np.random.RandomState, dtype: np.dtype
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
    W = network.encoder
    norms = np.sqrt(np.einsum("ij,ij->j", W, W))
    W /= np.where(norms > 0.0, norms, 1.0)


def gradients(
    X: Array, network: Network, penalty: float, variant: str, square: float
) -> tuple[float, Network]:
    """Return the loss and its gradients.

    The columns of X sum to zero; `square` is the sum of X².
    """
    m = len(X)
    a, W, b, V, c = network
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
    network: Network, gradient: Network, penalty: float, variant: str
) -> float:
    """Add the gradient of the penalty, in place, and return its value."""
    a, W = network.slack, network.encoder
    if variant == "slack":
        np.add(gradient.slack, penalty * np.sign(a), out=gradient.slack)
        return penalty * float(np.abs(a).sum())
    gradient.slack[:] = 0.0  # the slack stays one
    norms = np.sqrt(np.einsum("ij,ij->i", W, W))
    safe = np.where(norms > 0.0, norms, 1.0)
    np.add(gradient.encoder, penalty * W / safe[:, None], out=gradient.encoder)
    return penalty * float(norms.sum())


def _adam(network: Network, learning_rate: float) -> Callable[[Network], None]:
    """Return a function that takes one step of Adam, in place."""
    first = [np.zeros_like(array) for array in network]
    second = [np.zeros_like(array) for array in network]
    steps = 0

    def step(gradient: Network) -> None:
        nonlocal steps
        steps += 1
        rate = learning_rate / (1.0 - BETA1**steps)
        correction = np.sqrt(1.0 - BETA2**steps)
        for x, g, u, v in zip(network, gradient, first, second, strict=True):
            u += (1.0 - BETA1) * (g - u)
            v += (1.0 - BETA2) * (g * g - v)
            x -= rate * u / (np.sqrt(v) / correction + EPSILON)

    return step


def by_hand(X: Array, start: Network, settings: Any) -> Iterator[Round]:
    """Yield the loss of `start`, and then after each step, in NumPy."""
    network = Network(*map(np.copy, start))
    step = _adam(network, float(settings.learning_rate))
    square = float(np.vdot(X, X))
    penalty, variant = float(settings.penalty), settings.variant
    while True:
        loss, gradient = gradients(X, network, penalty, variant, square)
        yield loss, lambda: Network(*map(np.copy, network))
        step(gradient)
        if variant == "slack":
            _normalise(network)


def by_torch(
    X: Array, start: Network, settings: Any, device: str | None
) -> Iterator[Round]:
    """Yield the loss of `start`, and then after each step, on a torch device."""
    torch = load("AgnoS on torch")
    where = choose_device(device, X.dtype.name)
    table = torch.as_tensor(X, device=where)
    a, W, b, V, c = network = [torch.tensor(array, device=where) for array in start]
    is_slack = settings.variant == "slack"
    # Without slack variables these stay one.
    free = network if is_slack else network[1:]
    for parameter in free:
        parameter.requires_grad_(True)
    with restored_state():  # the first one imports much of torch, and sympy
        optimiser = torch.optim.Adam(free, lr=float(settings.learning_rate))
    while True:
        optimiser.zero_grad()
        H = torch.tanh((table * a) @ W + b)
        loss = (H @ V + c - table).square().sum() / len(table)
        size = a.abs() if is_slack else W.norm(dim=1)
        loss = loss + float(settings.penalty) * size.sum()
        loss.backward()
        yield float(loss.detach()), lambda: [x.detach().clone() for x in network]
        optimiser.step()
        if is_slack:
            with torch.no_grad():
                norms = W.norm(dim=0)
                W /= torch.where(norms > 0.0, norms, 1.0)


def train(
    X: Array, start: Network, settings: Any, place: Place | None = None
) -> tuple[Network, Training]:
    """Train from `start` and return the network with the smallest loss.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        The standardized table.
    start : Network
        Where to start.
    settings : AgnoS
        What is minimized and when it ends.
    place : Place, optional
        Where torch trains; in NumPy if not given.
    """
    training = Training(settings, X.shape[1])
    best: Any = start
    if place is None:
        rounds = by_hand(X, start, settings)
    else:
        rounds = by_torch(X, start, settings, place.device)
    # In NumPy products are thin: threads wait for each other longer than they work.
    limit = 1 if place is None else None
    with threadpool_limits(limits=limit, user_api="blas"):
        for _, (loss, copy) in zip(training.rounds(), rounds, strict=False):
            if training.better(loss):
                best = copy()
    return Network(*map(host, best)), training
