"""BLAS has one thread while something wants that, and as many as before afterwards."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from gensim_tfw2v.runtime.blas import one_blas_thread


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    with one_blas_thread():  # loads all libraries
        pass
    with threadpool_limits(2, user_api="blas"):
        yield


def test_blas_has_one_thread_inside_and_as_many_as_before_afterwards() -> None:
    before = blas_threads()
    with one_blas_thread():
        assert blas_threads() == {1}
    assert blas_threads() == before


def test_the_last_of_several_that_end_in_any_order_gives_the_threads_back() -> None:
    before = blas_threads()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas_threads() == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before
