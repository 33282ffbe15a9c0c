"""Random numbers of C functions as NumPy's own generator."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from gensim_tfw2v.native.random_numbers import RandomNumbers


@contextlib.contextmanager
def numpys(random: RandomNumbers) -> Iterator[np.random.Generator]:
    """Lend NumPy's generator with this state, which continues after what is drawn meanwhile."""
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
