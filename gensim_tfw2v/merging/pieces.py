"""Computes pieces of a large product side by side, with one thread of BLAS for each, and returns them in order."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from gensim_tfw2v.runtime.blas import one_blas_thread
from gensim_tfw2v.runtime.tensorflow import usable_cores

_Piece = TypeVar("_Piece")
_Result = TypeVar("_Result")

_MOST_THREADS = 16  # each has a piece of tens of megabytes, and its result


def side_by_side(function: Callable[[_Piece], _Result], pieces: Iterable[_Piece]) -> Iterator[tuple[_Piece, _Result]]:
    """Yield each piece with the function's result for it, in the order of pieces.

    As many pieces are computed at a time as there are cores. At most one result for each waits to be taken.
    """
    threads, left = min(usable_cores(), _MOST_THREADS), iter(pieces)
    running: deque[tuple[_Piece, Future[_Result]]] = deque()
    with one_blas_thread(), ThreadPoolExecutor(threads, thread_name_prefix="tfw2v-merge") as executor:
        for piece in itertools.islice(left, threads):
            running.append((piece, executor.submit(function, piece)))
        while running:
            piece, result = running.popleft()
            found = result.result()
            for following in itertools.islice(left, 1):
                running.append((following, executor.submit(function, following)))
            yield piece, found
