"""The package's functions on arrays, in C or in NumPy."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from gensim_tfw2v.native import functions

WAYS = ["in C", "in NumPy"]


@contextlib.contextmanager
def functions_run(way: str) -> Iterator[None]:
    """Have the functions run in one of the ways meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        if way == "in NumPy":
            patch.setattr(functions, "_library_if_compiled", lambda: None)
        else:
            assert functions._library_if_compiled() is not None
        yield
