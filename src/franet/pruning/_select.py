"""Which columns are kept, and which of these represents each of the others.

Links between columns are stored where they are few. Otherwise columns with the most
links are kept first, one block after the other, and each block is compared with those
that are not covered yet; when half of the columns are covered, the links of the others
are counted again. So memory is bounded, and all of it takes no more than about three
passes over the pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from franet.pairs.tiles import PairSource, TileRunner
from franet.pruning._graph import least_cost_of, solve
from franet.pruning._links import MOST_LINKS, Links, find_links, survey

# Opens the correlations, as ``1 − r``, of some columns in the order given.
Opener = Callable[[NDArray[np.intp]], PairSource]
# Columns, kept ones that are closest to them, and their correlations.
Closest = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]
# Correlations closer than this are equal.
_EQUAL = 9  # digits


@dataclass(eq=False)
class Selection:
    """Which columns are kept.

    Attributes
    ----------
    kept : ndarray of bool of shape (n,)
        The columns that are kept.
    representative : ndarray of int of shape (n,)
        For each column the kept one with the largest ``|r|``; itself if it is kept.
    r : ndarray of shape (n,)
        Its correlation with it.
    block : ndarray of int of shape (n,)
        The connected part of each column. Where links were too many to be stored, the
        columns of one representative.
    least : float or None
        What kept columns cost at least, if that was asked for.
    """

    kept: NDArray[np.bool_]
    representative: NDArray[np.intp]
    r: NDArray[np.float64]
    block: NDArray[np.intp]
    least: float | None = None


def select(
    open_source: Opener,
    n: int,
    cutoff: float,
    *,
    keys: NDArray[np.float64],
    cost: NDArray[np.float64],
    fixed: NDArray[np.bool_],
    exact: bool = False,
    n_threads: int = 1,
    most_links: int = MOST_LINKS,
) -> Selection:
    """Return few columns, no two of them linked, such that all others are linked.

    Parameters
    ----------
    open_source : callable
        Opens the correlations of some columns, none of them constant.
    n : int
        How many columns there are.
    cutoff : float
        Columns with ``|r| ≥ cutoff`` are linked.
    keys : ndarray of shape (n,)
        Numbers from the content of columns, which order those that are equal else.
    cost : ndarray of shape (n,)
        What each column costs.
    fixed : ndarray of bool of shape (n,)
        Columns that are kept, no two of them linked.
    exact : bool, default=False
        Whether the least cost is searched for, and proven.
    n_threads : int, default=1
        Number of threads; no result depends on it.
    most_links : int, default=MOST_LINKS
        How many links are stored, at the most.
    """
    itself = np.arange(n)
    done = Selection(np.zeros(n, bool), itself.copy(), np.ones(n), itself.copy())
    rank = np.empty(0, np.intp)
    left = itself
    swept = np.zeros(n, bool)
    while len(left):
        with closing(open_source(left)) as source:
            found = survey(source, cutoff, n_threads, most_links)
        if not len(rank):
            rank = np.empty(n, np.intp)
            rank[np.lexsort((itself, keys, -found.mass))] = itself
            if exact:
                done.least = least_cost_of(found.degree, cost)
        if found.links is not None:
            _solve(left, found.links, rank, cost, fixed, exact and len(left) == n, done)
            break
        reach = (found.degree + 1) / cost[left]
        order = left[np.lexsort((rank[left], -reach, ~fixed[left]))]
        n_fixed = int(np.count_nonzero(fixed[left]))
        with closing(open_source(order)) as source:
            picks, covered = _sweep(source, cutoff, n_fixed, n_threads)
        done.kept[order[picks]] = True
        swept[order[covered]] = True
        left = np.sort(order[~(picks | covered)])
    if swept.any():
        _represent(open_source, np.flatnonzero(swept), rank, cutoff, n_threads, done)
        done.block = done.representative
    return done


def _solve(
    left: NDArray[np.intp],
    links: Links,
    rank: NDArray[np.intp],
    cost: NDArray[np.float64],
    fixed: NDArray[np.bool_],
    exact: bool,
    done: Selection,
) -> None:
    """Choose among columns whose links are stored."""
    # Nodes of the graph are the columns in the order of their content.
    order = left[np.argsort(rank[left])]
    place = np.empty(len(left), np.intp)
    place[np.argsort(rank[left])] = np.arange(len(left))
    found = solve(links.graph(place), cost[order], fixed[order], exact)
    done.kept[order] = found.kept
    done.block[order] = found.block
    if exact:
        done.least = found.least
    kept = done.kept[left]
    for a, b in (links.j, links.k), (links.k, links.j):
        of_kept = kept[a]
        columns, by = left[b[of_kept]], left[a[of_kept]]
        _closest(columns, by, links.r[of_kept], rank, done)


def _closest(
    columns: NDArray[np.intp],
    by: NDArray[np.intp],
    r: NDArray[np.float64],
    rank: NDArray[np.intp],
    done: Selection,
) -> None:
    """Let columns be represented by kept ones, where these are closer than others."""
    columns, by, r = _strongest(columns, by, r, rank)
    old = done.representative[columns]
    before = np.abs(done.r[columns]).round(_EQUAL)
    strength = np.abs(r).round(_EQUAL)
    closer = (strength > before) | ((strength == before) & (rank[by] < rank[old]))
    closer |= old == columns
    columns = columns[closer]
    done.representative[columns], done.r[columns] = by[closer], r[closer]


def _strongest(
    columns: NDArray[np.intp],
    by: NDArray[np.intp],
    r: NDArray[np.float64],
    rank: NDArray[np.intp],
) -> Closest:
    """Return each column once, with the closest of those it is linked with."""
    order = np.lexsort((rank[by], -np.abs(r).round(_EQUAL), columns))
    columns, first = np.unique(columns[order], return_index=True)
    return columns, by[order][first], r[order][first]


def _sweep(
    source: PairSource, cutoff: float, n_fixed: int, n_threads: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Keep the first columns that no kept one covers, until half of all are covered.

    Parameters
    ----------
    source : PairSource
        The correlations of the columns, the first to be kept first.
    cutoff : float
        The cutoff.
    n_fixed : int
        So many of them are kept in any case.
    n_threads : int
        Number of threads; no result depends on it.

    Returns
    -------
    picks, covered : ndarray of bool
        The columns that are kept, and others that are linked with one of them.
    """
    grid, runner = source.grid(), TileRunner(n_threads)
    picks, covered = np.zeros((2, source.n), bool)
    for i in range(grid.n_blocks):
        tile = grid.tile(i, i)
        n_open = np.count_nonzero(~(picks | covered))
        if tile.rows.start >= n_fixed and 2 * n_open <= source.n:
            break
        if covered[tile.rows].all():
            continue
        _pick(find_links(source, tile, cutoff).links, tile.rows, picks, covered)

        def cover(
            j: int, i: int = i, rows: NDArray[np.bool_] = picks[tile.rows]
        ) -> None:
            tile = grid.tile(i, j)
            found = find_links(source, tile, cutoff, rows=rows, sure=True)
            covered[tile.cols] |= found.degree[1] > 0

        ahead = [
            j
            for j in range(i + 1, grid.n_blocks)
            if picks[tile.rows].any() and not covered[grid.tile(j, j).rows].all()
        ]
        with TileRunner.one_blas_thread():
            runner.map(cover, ahead)
    return picks, covered


def _pick(
    links: Links, rows: slice, picks: NDArray[np.bool_], covered: NDArray[np.bool_]
) -> None:
    """Keep the columns of a block, in order, that none before covers."""
    order = np.argsort(links.j, kind="stable")
    j, k = links.j[order], links.k[order]
    for v in range(rows.start, rows.stop):
        if not covered[v]:
            picks[v] = True
            ends = np.searchsorted(j, [v, v + 1])
            covered[k[slice(*ends)]] = True


def _represent(
    open_source: Opener,
    others: NDArray[np.intp],
    rank: NDArray[np.intp],
    cutoff: float,
    n_threads: int,
    done: Selection,
) -> None:
    """Find the closest kept column of each of some columns."""
    kept = np.flatnonzero(done.kept)
    both = np.concatenate([kept, others])
    with closing(open_source(both)) as source:
        grid, runner = source.grid(), TileRunner(n_threads)
        last = (len(kept) - 1) // grid.block

        def look(at: tuple[int, int]) -> Closest:
            links = find_links(source, grid.tile(*at), cutoff).links
            across = (links.j < len(kept)) & (links.k >= len(kept))
            columns, by = both[links.k[across]], both[links.j[across]]
            return _strongest(columns, by, links.r[across], rank)

        for i in range(last + 1):
            tiles = [(i, j) for j in range(max(i, last), grid.n_blocks)]
            with TileRunner.one_blas_thread():
                for columns, by, r in runner.map(look, tiles):
                    _closest(columns, by, r, rank, done)
