"""What functions return for arrays that they refuse, and checks that several of them make."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

# As in arrays.h.
WRONG_SIZES, WRONG_LENGTHS, NO_WORD, NO_PATH = -2, -3, -4, -5
LONGEST, LARGEST = 1 << 30, (1 << 31) - 1


def are_below(end: int, values: npt.NDArray[Any]) -> bool:
    """Return whether values are at least 0 and less than `end`."""
    return not values.size or (int(values.min()) >= 0 and int(values.max()) < end)
