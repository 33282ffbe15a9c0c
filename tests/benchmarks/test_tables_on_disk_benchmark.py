"""Tables on disk: the table of results, and a small run under a limit."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import tables_on_disk
from machines.quotas import hierarchy_in
from support.benchmark_commands import run_command

RUN = {
    **{"place": "disk", "limit_gb": 1.5, "is_killed": False, "rows": 2000, "raw_words": 3000, "seconds": 2.0},
    **{"loss": 1.25, "anonymous_bytes": 5e8, "resident_bytes": 1e9, "read_bytes": 2e9, "written_bytes": 3e9},
}
KILLED = {"place": "memory", "limit_gb": 1.5, "is_killed": True, "anonymous_bytes": 1.5e9}


def test_the_table_has_a_row_for_each_training_also_for_one_that_was_killed() -> None:
    _, trained, killed = tables_on_disk.table([RUN, KILLED])
    assert trained == ["disk", "1.5", "2,000", "1,500", "0.50", "1.00", "2.00", "3.00", "1.2500"]
    assert killed == ["memory", "1.5", "-", "killed", "1.50", "-", "-", "-", "-"]


def test_the_hierarchy_of_either_version_is_found() -> None:
    lines = ["cgroup /groups/cpu cgroup rw,cpu 0 0", "cgroup /groups/memory cgroup rw,relatime,memory 0 0"]
    assert hierarchy_in(lines, "memory") == (Path("/groups/memory"), 1)
    assert hierarchy_in(lines) == (Path("/groups/cpu"), 1)


@pytest.mark.slow
def test_a_small_training_runs_in_memory_and_on_disk(tmp_path: Path) -> None:
    limits = ["--limits", "2"] if os.geteuid() == 0 else ["--limits"]
    sizes = ["--vocabulary", "1000", "--words", "20000", "--vector-size", "10"]
    done = run_command("tables_on_disk.py", *sizes, *limits, "--folder", tmp_path, "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "| disk   | -" in done.stdout
