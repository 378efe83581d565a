"""The one place that says how kernels are compiled."""

from __future__ import annotations

from numba import njit

__all__ = ["kernel"]

# No fast math: NaN and infinity keep their meaning and sums their order. Kernels run
# on the threads of the tile runner, so they release the lock of the interpreter.
kernel = njit(nogil=True, cache=True, error_model="numpy")
