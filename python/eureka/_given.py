"""What callers hand in, as numbers; or a sentence about what it is instead."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._error import Error


def number(value: Any, what: str) -> float:
    """One number; NaN is one too."""
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except (TypeError, ValueError, RuntimeError):
        pass
    raise Error(f"{what} is no number: {value!r:.60}", "input")


def finite(value: Any, what: str) -> float:
    """One number that is neither NaN nor infinite."""
    if not math.isfinite(one := number(value, what)):
        raise Error(f"{what} must be finite, not {one}", "input")
    return one


def real(array: Any, what: str, dtype: Any) -> NDArray[Any]:
    """An array of real numbers of a type; itself where it is one."""
    try:
        given = np.asarray(array)
        if given.dtype.kind in "biufO":
            with np.errstate(over="ignore", invalid="ignore"):
                return np.asarray(given, dtype=dtype)
    except (TypeError, ValueError):
        pass
    raise Error(f"{what}: not an array of real numbers", "input")
