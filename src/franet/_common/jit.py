"""The one place that says how kernels are compiled."""

from numba import njit

# No fast math: NaN and infinity keep their meaning and sums their order. Kernels run
# on the threads of the tile runner, so they release the lock of the interpreter.
kernel = njit(nogil=True, cache=True, error_model="numpy")

# Sums over a row may be taken several lanes at a time: another order than one by one,
# but the same in every run. NaN and infinity keep their meaning here too.
reduction = njit(
    nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"}
)
