"""Pieces that are computed side by side come in their order, and few of them are held at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_info

from gensim_tfw2v.merging import pieces
from gensim_tfw2v.merging.pieces import side_by_side


def blas_threads() -> list[int]:
    """Return the threads of NumPy's and SciPy's BLAS; that of faiss has OpenMP's, a number for each calling thread."""
    return [library["num_threads"] for library in threadpool_info() if library.get("threading_layer") == "pthreads"]


@pytest.fixture(autouse=True)
def four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "usable_cores", lambda: 4)


def test_results_come_in_the_order_of_pieces() -> None:
    def late(piece: int) -> int:
        time.sleep(0.001 * (piece % 3))
        return -piece

    assert list(side_by_side(late, range(20), columns=100)) == [(piece, -piece) for piece in range(20)]


def test_as_many_pieces_are_computed_at_a_time_as_there_are_cores() -> None:
    together = threading.Barrier(4)
    assert [piece for piece, _ in side_by_side(lambda piece: together.wait(20), range(8), 100)] == list(range(8))


def test_no_more_pieces_are_taken_than_are_computed() -> None:
    taken: list[int] = []

    def some() -> Iterator[int]:
        for piece in range(100):
            taken.append(piece)
            yield piece

    found = side_by_side(lambda piece: piece, some(), 100)
    next(found)
    assert len(taken) == 5
    found.close()


def test_matrices_of_many_columns_are_computed_one_after_the_other_by_all_threads_of_blas() -> None:
    taken: list[int] = []

    def one(piece: int) -> list[int]:
        assert not taken
        taken.append(piece)
        found = blas_threads()
        taken.remove(piece)
        return found

    before = one(0)
    assert [threads for _, threads in side_by_side(one, range(6), columns=3000)] == [before] * 6


def test_each_piece_is_computed_by_one_thread_of_blas() -> None:
    for _, threads in side_by_side(
        lambda piece: blas_threads(),
        range(3),
        columns=100,
    ):
        assert set(threads) == {1}


def test_an_error_in_a_piece_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        list(side_by_side(lambda piece: 1 // piece, [1, 2, 0, 3], 100))
