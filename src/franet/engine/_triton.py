"""Kernels for CUDA: what plain torch would read a tile many times for, read once.

Sums are taken in a fixed order: partial sums go to places of their own and are added
up afterwards, so that results are the same in every run.
"""
# mypy: ignore-errors

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from franet.engine.measure import Measure

# Sides of what one program looks at: measured on an H200.
_BLOCK = 64
_SUMS_BLOCK = 32


@triton.jit
def _load_tile(D, stride, a, b, BLOCK: tl.constexpr):
    j = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    k = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = (j < a)[:, None] & (k < b)[None, :]
    d = tl.load(D + j[:, None] * stride + k[None, :], inside, other=float("inf"))
    return d, j, k


@triton.jit
def _survey(D, stride, a, b, noise, out, BLOCK: tl.constexpr):
    d, _, _ = _load_tile(D, stride, a, b, BLOCK)
    inf = float("inf")
    at = (tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)) * 3
    tl.store(out + at, tl.min(tl.min(d, axis=1), axis=0))
    finite = tl.where(d == inf, -inf, d)
    tl.store(out + at + 1, tl.max(tl.max(finite, axis=1), axis=0))
    above = tl.where(d > noise, d, inf)
    tl.store(out + at + 2, tl.min(tl.min(above, axis=1), axis=0))


def _grid(D: Any, block: int = _BLOCK) -> tuple[int, int]:
    return triton.cdiv(D.shape[0], block), triton.cdiv(D.shape[1], block)


def survey(D: Any, noise: float) -> tuple[Any, Any, Any]:
    """Return the smallest, the largest finite, and the smallest value above noise."""
    grid = _grid(D)
    out = D.new_empty((*grid, 3))
    _survey[grid](D, D.stride(0), *D.shape, noise, out, BLOCK=_BLOCK)
    out = out.view(-1, 3)
    return out[:, 0].amin(), out[:, 1].amax(), out[:, 2].amin()


@triton.jit
def _count_pairs(D, stride, a, b, edges, n, counts, BLOCK: tl.constexpr):
    d, _, _ = _load_tile(D, stride, a, b, BLOCK)
    at = tl.program_id(0).to(tl.int64) * tl.num_programs(1) + tl.program_id(1)
    for i in range(n):
        inside = (d <= tl.load(edges + i)).to(tl.int32)
        size = tl.sum(tl.sum(inside, axis=1), axis=0)
        tl.store(counts + at * n + i, size)


def count_pairs(D: Any, edges: Any, *, counts: Any) -> None:
    """Add to ``counts[i]`` the number of pairs with ``d ≤ edges[i]``."""
    grid, n = _grid(D), len(edges)
    sizes = torch.empty((*grid, n), dtype=torch.int32, device=D.device)
    _count_pairs[grid](D, D.stride(0), *D.shape, edges, n, sizes, BLOCK=_BLOCK)
    counts += sizes.sum(dim=(0, 1))


@triton.jit
def _masked_sums(
    D, stride, a, b, edges, n, top, snap, snap_to, floor,
    x_down, x_across, step_j, step_k, down, across,
    WEIGHTED: tl.constexpr, ONES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    d, j, k = _load_tile(D, stride, a, b, BLOCK)
    w = tl.full((BLOCK, BLOCK), 1.0, tl.float64)
    if WEIGHTED:
        w = top - tl.where(d <= snap, snap_to, d)
        w = tl.where(w <= floor, 0.0, w)
    # Partial sums of this block: for each graph and each block of the other side.
    to_down = tl.program_id(1).to(tl.int64) * a + j
    to_across = tl.program_id(0).to(tl.int64) * b + k
    step_down = tl.num_programs(1).to(tl.int64) * a
    step_across = tl.num_programs(0).to(tl.int64) * b
    for i in range(n):
        part = tl.where(d <= tl.load(edges + i), w, 0.0)
        if ONES:
            s_down, s_across = tl.sum(part, axis=1), tl.sum(part, axis=0)
        else:
            xk = tl.load(x_across + i * step_k + k, k < b, other=0.0)
            xj = tl.load(x_down + i * step_j + j, j < a, other=0.0)
            s_down = tl.sum(part * xk[None, :], axis=1)
            s_across = tl.sum(part * xj[:, None], axis=0)
        tl.store(down + i * step_down + to_down, s_down, j < a)
        tl.store(across + i * step_across + to_across, s_across, k < b)


def masked_sums(
    D: Any, edges: Any, measure: Measure, x: tuple[Any, Any] | None, *, out: Any
) -> None:
    """Add the products of a tile's part of each graph with vectors, both ways."""
    grid, n = _grid(D, _SUMS_BLOCK), len(edges)
    a, b = D.shape
    down, across = D.new_empty((n, grid[1], a)), D.new_empty((n, grid[0], b))
    x_down, x_across = (D, D) if x is None else x
    _masked_sums[grid](
        D, D.stride(0), a, b, edges, n, *measure.arguments,
        x_down, x_across, x_down.stride(0), x_across.stride(0), down, across,
        WEIGHTED=measure.weighted, ONES=x is None, BLOCK=_SUMS_BLOCK, num_warps=1,
    )  # fmt: skip
    out[0].add_(down.sum(dim=1))
    out[1].add_(across.sum(dim=1))


@triton.jit
def _graph_products(
    start, end, column, first, weight, which, n_graphs, X, Y,
    EDGES: tl.constexpr, GRAPHS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    g = tl.arange(0, GRAPHS)
    graph = tl.load(which + g, g < n_graphs, other=-1)
    sums = tl.zeros((GRAPHS,), tl.float64)
    stop = tl.load(end + row)
    for at in range(tl.load(start + row), stop, EDGES):
        e = at + tl.arange(0, EDGES)
        inside = e < stop
        k = tl.load(column + e, inside, other=0).to(tl.int64)
        w = tl.load(weight + e, inside, other=0.0)
        f = tl.load(first + e, inside, other=32767)
        has = f[:, None] <= graph[None, :]
        x = tl.load(X + k[:, None] * n_graphs + g[None, :], has, other=0.0)
        sums += tl.sum(w[:, None] * x, axis=0)
    tl.store(Y + row * n_graphs + g, sums, g < n_graphs)


def graph_products(
    start: Any, end: Any, column: Any, first: Any, weight: Any, which: Any, X: Any
) -> Any:
    """Return the product of each graph with a column of X.

    The edges of row j lie from ``start[j]`` to before ``end[j]``; graph ``i`` has those
    with ``first <= i``.
    """
    n, n_graphs = X.shape
    X, Y = X.contiguous(), torch.empty_like(X)
    graphs = max(2, triton.next_power_of_2(n_graphs))
    _graph_products[(n,)](
        start, end, column, first, weight, which, n_graphs, X, Y,
        EDGES=max(16, 1024 // graphs), GRAPHS=graphs,
    )  # fmt: skip
    return Y
