"""The arithmetic of the benchmarks of cores: which processors, what a row says, and who is seen to hold a lock."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import pytest
from lock_holders import Marks, holders
from measuring.core_cells import (
    CLUSTER,
    ENCODED,
    GENSIM,
    SPLIT,
    SYSTEMS,
    TEXT,
    Cell,
    Split,
    apart,
    batches_of,
    numbers_in,
    placed,
    split_from,
)
from measuring.python_lock import LockWatch, lock_address
from report.core_table import core_rows, merged, tables_of


def a_result(seconds: float, words: int = 1000, **used: float) -> dict[str, Any]:
    """Return what a made-up process says of a training with one block."""
    return {
        "train_seconds": seconds,
        "edge_seconds": seconds / 8,
        "words": words,
        "used": {"user": 1.5, "kernel": 0.5, "page_faults": 20, **used},
        "blocks": {"count": 1, "making": 1e-3, "waiting": 2e-3, "calling": 3e-3},
        "looks": 40,
        "times_held": 10,
        "finite": True,
        "report": None,
    }


def a_run(cell: Cell, *results: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a training of a cell."""
    label = {"mode": cell.mode, "system": cell.system, "workers": cell.workers, "processes": cell.processes}
    return {**label, "round": 0, **merged(results), "scores": {"mean": 20.0}}


def test_processors_of_different_cores_come_before_second_threads() -> None:
    cores = {0: {0, 1}, 1: {0, 1}, 2: {2, 3}, 3: {2, 3}, 4: {4}}
    assert apart(range(5), lambda processor: frozenset(cores[processor])) == [0, 2, 4, 1, 3]


@pytest.mark.parametrize(("text", "numbers"), [("0-3,8\n", [0, 1, 2, 3, 8]), ("5\n", [5])])
def test_a_list_of_processors_is_read_as_linux_writes_it(text: str, numbers: list[int]) -> None:
    assert list(numbers_in(text)) == numbers


def test_processes_share_no_processor() -> None:
    found = placed(Cell("sg-neg", SPLIT, workers=2, processes=3), range(8))
    assert [list(one["own"]) for one in found] == [[0, 1], [2, 3], [4, 5]]


def test_a_cluster_leaves_its_server_what_coordinator_and_workers_do_not_have() -> None:
    (found,) = placed(Cell("sg-neg", CLUSTER, workers=3), [4, 5, 6, 7, 8, 9])
    assert found == {"own": [4], "worker": [5, 6, 7], "ps": [8, 9]}
    (narrow,) = placed(Cell("sg-neg", CLUSTER, workers=1), [4, 5])
    assert narrow == {"own": [4], "worker": [5], "ps": [4]}
    (wide,) = placed(Cell("sg-neg", CLUSTER, workers=2, worker_cores=2), [4, 5, 6, 7, 8, 9])
    assert wide == {"own": [4], "worker": [5, 6, 7, 8], "ps": [9]}


def test_cells_are_prepared_by_mode_and_kind() -> None:
    batches = list(batches_of(["sg-neg"], SYSTEMS, [1, 2], [Split(2, 1)], [1]))
    assert [[(cell.system, cell.processes, cell.workers) for cell in batch] for batch in batches] == [
        [(ENCODED, 1, 1), (ENCODED, 1, 2), (GENSIM, 1, 1), (GENSIM, 1, 2), (TEXT, 1, 2)],
        [(SPLIT, 2, 1)],
        [(CLUSTER, 1, 1)],
    ]


def test_a_split_is_processes_times_threads() -> None:
    assert split_from("4x2") == Split(processes=4, workers=2)
    with pytest.raises(ValueError, match="4x0"):
        split_from("4x0")


def test_processes_together_take_as_long_as_the_slowest() -> None:
    together = merged([a_result(2.0, words=600), a_result(4.0, words=400)])
    assert (together["train_seconds"], together["words"]) == (4.0, 1000)
    assert together["used"] == {"user": 3.0, "kernel": 1.0, "page_faults": 40}
    assert together["blocks"]["making"] == 2e-3


def test_a_row_has_times_a_word_and_shares_of_the_cores() -> None:
    (row,) = core_rows([a_run(Cell("sg-neg", ENCODED, workers=2), a_result(2.0))])
    assert row.words_per_second.middle == 500
    assert row.cpu_us == pytest.approx(2000)  # two seconds for a thousand words
    assert row.kernel_share == pytest.approx(0.25)
    assert row.page_faults == pytest.approx(20)
    assert row.edge_share == pytest.approx(0.125)
    assert row.idle_share == pytest.approx(0.5)  # two of the four seconds of two cores
    assert row.lock_share == pytest.approx(0.25)
    assert row.lock_ns == pytest.approx(0.25 * 2e9 / 1000)
    assert row.block_ns == pytest.approx({"making": 1e3, "waiting": 2e3, "calling": 3e3})


def test_locks_of_several_processes_count_for_the_words_of_each() -> None:
    (row,) = core_rows([a_run(Cell("sg-neg", SPLIT, 1, processes=2), a_result(2.0), a_result(2.0))])
    assert row.lock_ns == pytest.approx(0.25 * 2e9 / 1000)


def test_speed_ups_are_of_the_same_system_and_of_one_thread_for_separate_models() -> None:
    rows = core_rows(
        [
            a_run(Cell("sg-neg", ENCODED, 1), a_result(8.0)),
            a_run(Cell("sg-neg", ENCODED, 2), a_result(4.0)),
            a_run(Cell("sg-neg", GENSIM, 1), a_result(40.0)),
            a_run(Cell("sg-neg", GENSIM, 2), a_result(10.0)),
            a_run(Cell("sg-neg", SPLIT, 1, processes=2), a_result(8.0), a_result(8.0)),
            a_run(Cell("cbow-hs", TEXT, 2), a_result(8.0)),
        ]
    )
    assert [row.speed_up for row in rows] == [1, 2, 1, 4, 2, None]
    assert [row.times_gensim for row in rows] == [5, 2.5, 1, 1, 2.5, None]


def test_only_the_workers_of_a_cluster_can_be_idle() -> None:
    (row,) = core_rows([a_run(Cell("sg-neg", CLUSTER, 2), a_result(2.0, worker=3.0, ps=1.0))])
    assert row.idle_share == pytest.approx(0.25)
    assert row.task_cores == {"coordinator": 1.0, "ps": 0.5, "worker": 1.5}
    assert row.cpu_us == pytest.approx(6000)


def test_failed_cells_are_in_no_row() -> None:
    failed = {"mode": "sg-neg", "system": ENCODED, "workers": 1, "processes": 1, "error": "no memory"}
    assert tables_of(core_rows([failed])) == {}


def test_every_mode_has_a_table_of_speed_and_one_of_costs() -> None:
    tables = tables_of(core_rows([a_run(Cell("sg-neg", ENCODED, 1), a_result(2.0))]))
    assert list(tables) == ["sg-neg: speed", "sg-neg: where the time goes", "Scores"]
    assert all(len(row) == len(table[0]) for table in tables.values() for row in table)


def test_a_score_stands_beside_each_speed_of_ours_and_gensims() -> None:
    cells = [Cell("sg-neg", system, workers) for system in (ENCODED, GENSIM) for workers in (1, 2, 4)]
    runs = [a_run(cell, a_result(2.0)) | {"scores": {"mean": 20.0 + place}} for place, cell in enumerate(cells)]
    heading, *rows = tables_of(core_rows(runs))["sg-neg: speed"]
    assert [row[heading.index("score")] for row in rows] == [f"{20 + place}.00" for place in range(6)]


def test_the_lock_is_seen_held_by_who_holds_it_and_free_during_a_system_call() -> None:
    address = lock_address()
    assert address is not None
    assert ctypes.c_int.from_address(address).value == 1  # read by a thread that holds it
    watch = LockWatch(os.getpid(), address)
    watch.look()  # a system call that lets it go
    watch.close()
    assert (watch.looks, watch.times_held) == (1, 0)


def test_holders_share_the_time_by_looks_and_the_longest_is_first() -> None:
    counts = [("reads", False, 50), ("reads", True, 10), ("makes", True, 20), ("waits", False, 20)]
    assert holders(counts, nanoseconds=200.0) == [("makes", 40.0, 40.0), ("reads", 120.0, 20.0), ("waits", 40.0, 0.0)]


def test_a_mark_is_that_of_the_inner_function_while_it_runs() -> None:
    marks = Marks()
    seen = []

    def look() -> None:
        seen.append(marks.names[ctypes.c_int.from_address(marks.address).value])

    inner = marks.marked(look, "inner")

    def both() -> None:
        look()
        inner()
        look()

    look()
    marks.marked(both, "outer")()
    look()
    assert seen == ["before the first block", "outer", "inner", "outer", "between and after blocks"]
