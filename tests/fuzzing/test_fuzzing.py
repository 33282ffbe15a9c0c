"""Each fuzz target gets a few examples; `scripts/fuzz` gives them examples for minutes."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.child_process import environment, run_script

from fuzzing.run import fuzz
from fuzzing.target import Target, TooSlowError, damaged, time_limit
from fuzzing.targets import TARGETS, target_named

FEW = settings(max_examples=10, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_treats_a_few_examples_rightly(name: str) -> None:
    target = target_named(name)

    def check(example: Any) -> None:
        with time_limit():
            target.check(example)

    FEW(given(target.examples)(check))()


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_says_what_is_right(name: str) -> None:
    assert (target_named(name).check.__doc__ or "").endswith(".")


def test_damage_changes_bytes_where_it_says() -> None:
    assert damaged(b"abcd", [("flip", 1, 0)]) == b"accd"
    assert damaged(b"abcd", [("overwrite", 1, b"XY")]) == b"aXYd"
    assert damaged(b"abcd", [("insert", 4, b"X")]) == b"abcdX"
    assert damaged(b"abcd", [("delete", 1, 2)]) == b"ad"
    assert damaged(b"abcd", [("cut", 3, None)]) == b"abc"
    assert damaged(b"abcd", [("copy", 0, (2, 2))]) == b"cdcd"
    assert damaged(b"", [("flip", 7, 7), ("cut", 9, None)]) == b""


def check_small(number: int) -> None:
    """Numbers are small."""
    assert number < 50


def test_a_failure_is_counted_and_shown_with_what_repeats_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran, failures = fuzz("small-number", Target(st.integers(0, 99), check_small), 600.0, 5, tmp_path)
    assert failures == 3
    assert ran > failures
    shown = capsys.readouterr().out
    assert "scripts/fuzz --seed 5 1 small-number" in shown
    assert "example=50" in shown
    assert "@reproduce_failure" in shown
    assert "example=50" in (tmp_path / "small-number-5.failure").read_text(encoding="utf-8")


def test_an_example_that_takes_too_long_fails() -> None:
    with pytest.raises(TooSlowError), time_limit(1):
        time.sleep(60)


@pytest.mark.parametrize(
    ("program", "kind", "message"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "signal", "SIGSEGV"),
        ("os._exit(3)", "ended", "exit status 3"),
        ("('raised', 'why')", "raised", "why"),
        ("bytearray(2**33)", "ended", "exit status 10"),
    ],
    ids=["signal", "exit", "error", "memory"],
)
def test_however_a_fork_ends_it_is_known(program: str, kind: str, message: str) -> None:
    script = f"import os, signal; from fuzzing.forked_reader import _in_fork; print(*_in_fork(lambda: {program}))"
    found = run_script(script).stdout
    assert found.startswith(kind)
    assert message in found


def test_code_that_would_run_and_memory_that_is_taken_are_seen_where_a_file_is_opened_safely() -> None:
    script = """
import pickle
from pathlib import Path
from fuzzing.forked_reader import _in_fork, _read_safely
from gensim_tfw2v.files import safe_vectors
for open_file in (lambda path: pickle.loads(pickle.dumps(print)), lambda path: bytes(2**25), lambda path: bytes(2**45)):
    safe_vectors.load_vectors_safely = open_file
    print(*_in_fork(lambda: _read_safely(Path("saved"))))
"""
    done = run_script(script)
    ran, large, huge = done.stdout.splitlines()
    assert ran == "ended exit status 11", done.stderr
    assert large.startswith("raised 33,")
    assert huge == "raised MemoryError()"


@pytest.mark.slow
def test_the_last_lines_count_examples_and_failures_of_each_target(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fuzzing.run", "--corpus", str(tmp_path), "0.0005", "text", "compressed-text"]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120, check=True)
    last = done.stdout.splitlines()[-2:]
    assert [line.partition(":")[0] for line in last] == ["text", "compressed-text"]
    assert all(line.endswith(" examples, 0 failures") for line in last)


def test_an_unknown_target_is_named(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fuzzing.run", "1", "texts"]
    done = subprocess.run(
        command, env=environment(), cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 2
    assert "no target texts" in done.stderr
