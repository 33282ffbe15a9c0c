"""Computes pieces of a product side by side, with one thread of BLAS for each, and returns them in order.

Matrices of many columns are an exception: BLAS divides them well, and a result for each core would not fit the memory.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from gensim_tfw2v.runtime.blas import one_blas_thread
from gensim_tfw2v.runtime.tensorflow import usable_cores

_Piece = TypeVar("_Piece")
_Result = TypeVar("_Result")

_MOST_COLUMNS = 2048  # of matrices that one thread of BLAS computes
_MOST_THREADS = 8  # each has a piece of 32 MB, and a result


def blas_threads_for(columns: int) -> contextlib.AbstractContextManager[None]:
    """Have BLAS use one thread for matrices of few columns, and all of its threads for others."""
    return one_blas_thread() if columns <= _MOST_COLUMNS else contextlib.nullcontext()


def side_by_side(
    function: Callable[[_Piece], _Result], pieces: Iterable[_Piece], columns: int
) -> Iterator[tuple[_Piece, _Result]]:
    """Yield each piece with the function's result for it, in the order of pieces.

    As many pieces are computed at a time as there are cores, or one if their matrices have many columns. At most one
    result for each waits to be taken.
    """
    threads = min(usable_cores(), _MOST_THREADS) if columns <= _MOST_COLUMNS else 1
    left, running = iter(pieces), deque[tuple[_Piece, Future[_Result]]]()
    with blas_threads_for(columns), ThreadPoolExecutor(threads, thread_name_prefix="tfw2v-merge") as executor:
        for piece in itertools.islice(left, threads):
            running.append((piece, executor.submit(function, piece)))
        while running:
            piece, result = running.popleft()
            found = result.result()
            for following in itertools.islice(left, 1):
                running.append((following, executor.submit(function, following)))
            yield piece, found
