"""Which kernel the checks of operations run: the compiled one, or within `plain_operations` TensorFlow's own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from gensim_tfw2v.steps.kernel import Kernel, compiled_kernel, plain_kernel

_chosen: list[Kernel] = []


def used_kernel() -> Kernel:
    """Return the kernel whose operations are checked."""
    return _chosen[-1] if _chosen else compiled_kernel()


def operations() -> Any:
    """Return that kernel's functions by the names of the compiled operations."""
    return SimpleNamespace(**{f"tfw2v_{name}": function for name, function in used_kernel()._asdict().items()})


@contextlib.contextmanager
def plain_operations() -> Iterator[None]:
    """Check TensorFlow's own operations meanwhile."""
    _chosen.append(plain_kernel())
    try:
        yield
    finally:
        _chosen.pop()
