"""A seed → random numbers for C functions: those of NumPy's ``Generator(SFC64(seed))``."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np


class RandomNumbers(ctypes.Structure):
    """The state of a generator of random numbers. C functions that draw numbers change it."""

    _fields_ = (("words", ctypes.c_uint64 * 4), ("kept", ctypes.c_uint32), ("has_kept", ctypes.c_uint32))

    @classmethod
    def seeded(cls, entropy: Sequence[int]) -> RandomNumbers:
        """Return the generator for these whole numbers of at least 0."""
        words = np.random.SFC64(list(entropy)).state["state"]["state"]
        return cls.from_buffer_copy(words.tobytes() + bytes(8))  # a new generator has kept no half of a number


@contextlib.contextmanager
def numpys_generator(random: RandomNumbers) -> Iterator[np.random.Generator]:
    """Lend a generator of NumPy with this state; numbers that are drawn from it meanwhile change the state."""
    bits = np.random.SFC64(0)
    bits.state = {
        "bit_generator": "SFC64",
        "state": {"state": np.array(random.words, np.uint64)},
        "has_uint32": random.has_kept,
        "uinteger": random.kept,
    }
    yield np.random.Generator(bits)
    after: Any = bits.state
    random.words[:] = after["state"]["state"].tolist()
    random.has_kept, random.kept = after["has_uint32"], after["uinteger"]
