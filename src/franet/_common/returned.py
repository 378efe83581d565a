"""Checks of what a user's function returns; what it raises passes through."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from franet.exceptions import DataError


def finite_numbers(
    returned: Any, shape: tuple[int, ...], what: str
) -> NDArray[np.float64]:
    """Return a function's answer as float64, or say what is wrong with it.

    Parameters
    ----------
    returned : object
        What the function returned.
    shape : tuple of int
        What the shape has to be; empty for one number.
    what : str
        The function, as the start of a sentence.
    """
    sizes = " × ".join(map(str, shape))
    wanted = f"{sizes} finite numbers" if shape else "one finite number"
    try:
        values = np.asarray(returned)
    except ValueError:
        got = "rows of different lengths"
    else:
        if values.dtype.kind not in "biuf":
            got = f"a {type(returned).__name__} of type {values.dtype}"
        elif values.shape != shape:
            got = f"an array of shape {values.shape}"
        elif not np.isfinite(values).all():
            bad = np.argwhere(~np.isfinite(values))[0]
            place = f" at position {', '.join(map(str, bad))}" if len(shape) else ""
            got = f"{values[tuple(bad)]}{place}"
        else:
            return values.astype(np.float64)
    raise DataError(f"{what} must return {wanted}, got {got}.")
