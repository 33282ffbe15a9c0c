"""A seed → random numbers for C functions: those of NumPy's ``Generator(SFC64(seed))``."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np


class RandomNumbers(ctypes.Structure):
    """The state of a generator of random numbers. C functions that draw numbers change it."""

    _fields_ = (("words", ctypes.c_uint64 * 4), ("kept", ctypes.c_uint32), ("has_kept", ctypes.c_uint32))

    @classmethod
    def seeded(cls, entropy: Sequence[int]) -> RandomNumbers:
        """Return the generator for these whole numbers of at least 0."""
        words = np.random.SFC64(list(entropy)).state["state"]["state"]
        return cls.from_buffer_copy(words.tobytes() + bytes(8))  # a new generator has kept no half of a number
