"""The autoencoder of AgnoS in torch: the loss as it is written, on any device.

Gradients and Adam are torch's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet._common.global_state import restored_state
from franet.engine.device import choose_device, load
from franet.rankers._agnos_numpy import Network, Settings, Training, Variant

__all__ = ["loss_of", "train"]


def loss_of(X: Any, parameters: list[Any], penalty: float, variant: Variant) -> Any:
    """Return the loss: the mean over rows of the squared error, and the penalty."""
    torch = load()
    a, W, b, V, c = parameters
    H = torch.tanh((X * a) @ W + b)
    error = (H @ V + c - X).square().sum() / len(X)
    if variant == "slack":
        return error + penalty * a.abs().sum()
    return error + penalty * W.norm(dim=1).sum()


def train(
    X: NDArray[np.floating], start: Network, settings: Settings, device: str | None
) -> tuple[Network, Training]:
    """Train from `start` and return the network with the smallest loss."""
    torch = load("AgnoS on torch")
    where = choose_device(device, X.dtype.name)
    table = torch.as_tensor(X, device=where)
    parameters = [torch.tensor(array, device=where) for array in start.arrays()]
    encoder = parameters[1]
    # Without slack variables these stay one.
    free = parameters if settings.variant == "slack" else parameters[1:]
    for parameter in free:
        parameter.requires_grad_(True)
    with restored_state():  # the first one imports much of torch, and sympy
        optimiser = torch.optim.Adam(free, lr=settings.learning_rate)
    training = Training(settings, X.shape[1])
    best = parameters
    for _ in training.rounds():
        optimiser.zero_grad()
        loss = loss_of(table, parameters, settings.penalty, settings.variant)
        loss.backward()
        if training.better(float(loss.detach())):
            best = [parameter.detach().clone() for parameter in parameters]
        optimiser.step()
        if settings.variant == "slack":
            with torch.no_grad():
                norms = encoder.norm(dim=0)
                encoder /= torch.where(norms > 0.0, norms, 1.0)
    return Network(*(array.detach().cpu().numpy() for array in best)), training
