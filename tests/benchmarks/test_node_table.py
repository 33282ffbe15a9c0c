"""The table of emulated machines: its arithmetic, what it refuses, and a training of it with plain processes."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import nodes
import pytest
from machines import networks, processes
from machines.cluster import NodeCluster
from machines.networks import Loopback
from machines.quotas import Quotas, hierarchy_in
from measuring import corpora
from report.node_table import cost_table, main_table, rows_of


def a_run(workers: int, seconds: float, mean: float = 20.0, **others: Any) -> dict[str, Any]:
    """Return a made-up run over 1,000 words in two epochs of two blocks."""
    stages = {"make": 1.0, "pull": 1.0, "compute": 5.0, "push": 1.0, "idle": 2.0}
    return {
        "workers": workers,
        "train_seconds": seconds,
        "raw_words": 1000,
        "epochs": 2,
        "losses": [3.0, 2.0],
        "scores": {"mean": mean},
        "finite": True,
        "cpu_seconds": {"ps0": 1.0, "ps1": 2.0, "worker0": 4.0, "worker10": 2.0, "coordinator": 3.0},
        "sent_bytes": {"ps0": 3000, "worker0": 1000},
        "peak_bytes": {"ps0": 1e6, "ps1": 2e6, "worker0": 4e6, "worker10": 3e6, "coordinator": 5e6},
        "report": {"blocks": 4, "bytes": 2000, "bytes_per_word": 1.0, "staleness": {"mean": 0.5},
                   "worker_seconds": stages},
        **others,
    }  # fmt: skip


def test_speed_up_and_efficiency_are_against_the_fewest_workers() -> None:
    rows = rows_of([a_run(8, 5.0), a_run(2, 15.0)])
    assert [(row.workers, row.speed_up, row.efficiency) for row in rows] == [(2, 1.0, 1.0), (8, 3.0, 0.75)]


def test_a_row_has_the_median_time_and_the_mean_score_of_its_runs() -> None:
    (row,) = rows_of([a_run(1, 10.0, mean=20.0), a_run(1, 30.0, mean=23.0), a_run(1, 11.0, mean=20.0)])
    assert (row.seconds.middle, row.seconds.low, row.seconds.high) == (11.0, 10.0, 30.0)
    assert row.scores["mean"] is not None
    assert row.scores["mean"].mean == 21.0


def test_scores_are_compared_with_those_of_the_fewest_workers() -> None:
    assert [row.score_ratio for row in rows_of([a_run(1, 1.0, mean=20.0), a_run(2, 1.0, mean=19.0)])] == [1.0, 0.95]


def test_bytes_a_word_are_those_that_interfaces_counted() -> None:
    (row,) = rows_of([a_run(1, 1.0)])
    assert row.bytes_per_word == 4000 / 2000


def test_bytes_a_word_of_plain_processes_are_those_that_the_training_reports() -> None:
    (row,) = rows_of([a_run(1, 1.0, sent_bytes=None)])
    assert row.bytes_per_word == 2000 / 2000


def test_messages_are_those_of_all_workers_as_they_report_them() -> None:
    tasks = {"worker 0": {"messages": 30}, "worker 1": {"messages": 10}, "ps 0": {"messages": 40}}
    known, unknown = a_run(2, 10.0), a_run(4, 10.0)
    known["report"] = {**known["report"], "tasks": tasks}
    heading, *lines = cost_table(rows_of([known, unknown]), None)
    assert [line[heading.index("messages / million words")] for line in lines] == ["20,000", "-"]


def test_processor_time_is_added_up_by_kind_of_task() -> None:
    (row,) = rows_of([a_run(2, 10.0)])
    assert row.cores_used == pytest.approx({"worker": 0.6, "ps": 0.3, "coordinator": 0.3})
    assert row.cpu_us_per_word == pytest.approx({"worker": 3000.0, "ps": 1500.0, "coordinator": 1500.0})


def test_memory_of_a_kind_of_task_is_that_of_the_largest() -> None:
    rows = rows_of([a_run(2, 10.0)])
    heading, line = cost_table(rows, None)
    assert [line[heading.index(f"{kind} MB")] for kind in ("worker", "ps", "coordinator")] == ["4", "2", "5"]


def test_a_system_that_reports_neither_loss_nor_bytes_has_a_row_too() -> None:
    rows = rows_of([a_run(2, 10.0, losses=[], report=None, sent_bytes=None)])
    assert (rows[0].words_per_second, rows[0].bytes_per_word, rows[0].stage_shares) == (200.0, None, {})
    table = main_table(rows)
    assert [table[1][table[0].index(name)] for name in ("loss", "bytes a word")] == ["-", "-"]


def test_stages_are_shares_of_the_workers_time() -> None:
    (row,) = rows_of([a_run(1, 1.0)])
    assert row.stage_shares == {"make": 0.1, "pull": 0.1, "compute": 0.5, "push": 0.1, "idle": 0.2}


def test_failed_runs_have_no_row() -> None:
    assert [row.workers for row in rows_of([a_run(1, 1.0), {"workers": 2, "error": "no memory"}])] == [1]


def test_one_run_that_is_not_finite_shows_in_the_table() -> None:
    table = main_table(rows_of([a_run(1, 1.0), a_run(1, 1.0, finite=False)]))
    assert table[1][table[0].index("finite")] == "**NO**"


def test_the_published_speed_up_stands_beside_ours_where_there_is_one() -> None:
    table = main_table(rows_of([a_run(workers, 1.0) for workers in (1, 3, 16)]))
    assert [line[table[0].index("published speed-up")] for line in table[1:]] == ["1.00", "-", "1.54"]


def test_use_of_the_quota_is_unknown_without_quotas() -> None:
    rows = rows_of([a_run(2, 10.0)])
    column = cost_table(rows, None)[0].index("of their quota %")
    assert [cost_table(rows, cores)[1][column] for cores in (None, 0.5)] == ["-", "60"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--workers", "0"), "0 is less than 1"),
        (("--workers", "some"), "invalid number value: 'some'"),
        (("--cpu", "0.001"), "0.001 is less than 0.01"),
        (("--rate", "fast"), "'fast' is no rate like 100mbit"),
    ],
)
def test_nodes_refuses_what_makes_no_sense(
    arguments: tuple[str, ...], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        nodes._parser().parse_args([__file__, *arguments])
    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err


def test_an_unlimited_rate_can_be_asked_for() -> None:
    assert nodes._parser().parse_args([__file__, "--rate", "unlimited"]).rate is None


def test_a_corpus_is_cut_at_the_end_of_the_line_that_has_its_last_word(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.txt", tmp_path / "cut.txt"
    whole.write_text("one two\nthree four\nfive\n")
    corpora.cut_corpus(whole, 3, cut)
    assert cut.read_text() == "one two\nthree four\n"


def test_a_second_table_on_one_machine_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with open(tmp_path / "tfw2v-nodes.lock", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(SystemExit, match="another"), networks.alone():
            pass


def test_either_version_of_control_groups_is_found(tmp_path: Path) -> None:
    first = [
        "tmpfs /a tmpfs rw 0 0",
        "cgroup /a/cpuset cgroup rw,cpuset 0 0",
        "cgroup /a/cpu cgroup rw,cpu,cpuacct 0 0",
    ]
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io\n")
    assert hierarchy_in(first) == (Path("/a/cpu"), 1)
    assert hierarchy_in([f"cgroup2 {tmp_path} cgroup2 rw 0 0"]) == (tmp_path, 2)
    assert hierarchy_in(first[:2]) is None


@pytest.mark.parametrize(
    ("version", "written"),
    [
        (1, {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "10000"}),
        (2, {"cpu.max": "10000 100000"}),
    ],
)
def test_a_quota_is_written_as_the_kernel_wants_it(tmp_path: Path, version: int, written: dict[str, str]) -> None:
    quotas = Quotas(tmp_path, version)
    quotas.limit("worker0", 0.1)
    group = tmp_path / "tfw2v-node-worker0"
    assert {file.name: file.read_text() for file in group.iterdir()} == written


@pytest.mark.parametrize(("version", "written"), [(1, {"cpu.shares": "262144"}), (2, {"cpu.weight": "10000"})])
def test_machines_without_a_quota_go_first(tmp_path: Path, version: int, written: dict[str, str]) -> None:
    Quotas(tmp_path, version).prefer("ps0")
    group = tmp_path / "tfw2v-node-ps0"
    assert {file.name: file.read_text() for file in group.iterdir()} == written


def test_processor_time_of_a_process_is_what_the_system_says(tmp_path: Path) -> None:
    before = os.times()
    ticks = processes.cpu_ticks(os.getpid()) / os.sysconf("SC_CLK_TCK")
    after = os.times()
    assert sum(before[:4]) - 0.05 <= ticks <= sum(after[:4]) + 0.05


def test_peak_memory_of_a_process_is_not_below_what_it_has_now() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    assert processes.peak_bytes(os.getpid()) >= pages * os.sysconf("SC_PAGE_SIZE") / 2
    assert processes.peak_bytes(2**30) == 0


def test_the_family_of_a_process_has_what_its_children_started() -> None:
    shell = "sleep 60 & echo started; wait"
    with subprocess.Popen(["sh", "-c", f"sh -c '{shell}'; true"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        family = processes.family_of(process.pid)
        for member in family:
            os.kill(member, signal.SIGKILL)
    assert family[0] == process.pid
    assert len(family) == 3


def test_a_task_that_does_not_start_is_named_with_what_it_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no TensorFlow here\n")
    python.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(python))
    names = ["ps0", "worker0", processes.COORDINATOR]
    cluster = NodeCluster(Loopback(names), None, dict.fromkeys(names), tmp_path)
    with pytest.raises(processes.NodeError, match="ps0 failed: no TensorFlow here"):
        cluster.start()
    cluster.stop()


@pytest.mark.slow
def test_plain_processes_train_and_every_page_says_that_they_are_plain(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("tiger cat plane car train\nbook paper computer keyboard cat\n" * 100)
    small = ["--epochs", "1", "--vector-size", "10", "--ps", "1", "--workers", "1", "--no-scores", "--plain"]
    assert nodes.main([str(corpus), "--output", str(tmp_path), *small]) == 0
    results = json.loads((tmp_path / "nodes.json").read_text())
    assert [(row["workers"], row["finite"]) for row in results["rows"]] == [(1, True)]
    assert results["emulated"]["machines"] == "--plain was given"
    assert "NOT ALL OF IT IS EMULATED" in (tmp_path / "nodes.md").read_text()
