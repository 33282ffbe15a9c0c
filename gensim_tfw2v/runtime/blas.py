"""Limits the threads of BLAS, the library with which NumPy and SciPy multiply and decompose matrices.

A thread of BLAS that waits for another one does not give up its core. Where cores are busy or a quota limits them,
decompositions of matrices of a few hundred columns then take ten times the processor time of a single thread.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

_lock = threading.Lock()  # guards the next two
_users = 0  # how many threads of this process want BLAS to have a single thread
_limit: Any = None


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Have BLAS use one thread in this process, until all that want this have ended."""
    global _users, _limit
    with _lock:
        if not _users:
            _limit = _libraries().limit(limits=1, user_api="blas")
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                _limit.restore_original_limits()


def _libraries() -> Any:
    """Return the libraries that this process has loaded by now, and that have threads of their own."""
    import scipy.linalg  # noqa: F401  (only libraries that are loaded are found)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
