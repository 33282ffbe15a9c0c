"""Writers of checkpoints that are stopped, and full disks: each checkpoint is whole or not there."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.checkpoint_folders import NUMBERS, names_in, write
from support.child_process import environment
from support.small_disks import DISK_BYTES

from gensim_tfw2v.checkpoints import unfinished
from gensim_tfw2v.checkpoints.folder import Checkpoint, CheckpointFolder
from gensim_tfw2v.runtime import processes

PROGRAM = Path(__file__).parents[1] / "support" / "stopped_checkpoints.py"


def leftover(folder: CheckpointFolder, machine: str, process: int, start: int) -> Path:
    """Make the unfinished folder of a process."""
    path = folder.path / f".tfw2v-checkpoint-{machine}-{process}-{start}-0123456789abcdef"
    path.mkdir()
    (path / "inputs.array").write_bytes(b"12")
    return path


def ended_process() -> int:
    """Return the number of a process that has ended."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_only_what_processes_that_ended_left_behind_is_removed(folder: CheckpointFolder) -> None:
    here, running = processes.machine_name(), os.getppid()
    start = processes.start_time(running)
    assert start
    of_running = leftover(folder, here, running, start)
    unknown = leftover(folder, here, running, 0)  # as on a system that does not say when a process began
    former = leftover(folder, here, running, start - 1)  # of one that had this number before
    ended = leftover(folder, here, ended_process(), start)
    interrupted = leftover(folder, here, os.getpid(), start)  # which this process does not write any more
    elsewhere, long_ago = leftover(folder, "0" * 16, running, start), leftover(folder, "1" * 16, running, start)
    for path in (long_ago / "inputs.array", long_ago):
        os.utime(path, (0, path.stat().st_mtime - unfinished._ABANDONED_SECONDS - 60))
    of_a_model = folder.path / ".tfw2v-kept"
    of_a_model.mkdir()
    folder.prepare()
    assert not any(path.exists() for path in (former, ended, interrupted, long_ago))
    assert set(folder.path.iterdir()) == {of_running, unknown, elsewhere, of_a_model}


def test_a_process_that_nobody_has_waited_for_has_ended(folder: CheckpointFolder) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    start = processes.start_time(child.pid)
    assert start
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    left = leftover(folder, processes.machine_name(), child.pid, start)
    folder.prepare()
    assert not left.exists()
    child.communicate()


def test_on_a_system_that_does_not_say_when_processes_began_they_are_known_to_run(
    folder: CheckpointFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(processes, "PROC", tmp_path / "none")
    assert processes.start_time(os.getppid()) == 0
    kept = leftover(folder, processes.machine_name(), os.getppid(), 5)
    ended = leftover(folder, processes.machine_name(), ended_process(), 5)
    folder.prepare()
    assert kept.exists()
    assert not ended.exists()
    write(folder, inputs=NUMBERS).check()


WRITER = """
import sys
import numpy as np
from gensim_tfw2v.checkpoints.arrays import ArrayToWrite
from gensim_tfw2v.checkpoints.folder import CheckpointFolder
def pieces():
    yield np.ones((1, 4), np.float32)
    print("writing", flush=True)
    sys.stdin.read()
    yield np.ones((1, 4), np.float32)
CheckpointFolder(sys.argv[1]).write({"of": "child"}, {"inputs": ArrayToWrite((2, 4), np.dtype(np.float32), pieces)})
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT, None])
def test_what_a_living_process_writes_is_left_alone(folder: CheckpointFolder, ending: int | None) -> None:
    command = [
        sys.executable,
        "-c",
        f"import signal; signal.signal(2, signal.default_int_handler){WRITER}",
        folder.path,
    ]
    child = subprocess.Popen(
        command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert child.stdout is not None
    assert select.select([child.stdout], [], [], 60)[0]
    assert child.stdout.readline() == b"writing\n"
    (left,) = names_in(folder)
    folder.prepare()
    assert names_in(folder) == [left]
    assert folder.newest() is None
    if ending is not None:
        child.send_signal(ending)
    child.communicate(timeout=60)
    if ending == signal.SIGKILL:
        assert names_in(folder) == [left]
        folder.prepare()
    assert names_in(folder) == (["checkpoint-000001"] if ending is None else [])


def stopped(which: str, tmp_path: Path) -> list[dict[str, Any]]:
    """Run the program that stops writers of checkpoints."""
    in_memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=in_memory if os.access(in_memory, os.W_OK) else tmp_path) as place:
        command = [sys.executable, PROGRAM, f"{place}/checkpoints", which]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_kill_at_a_random_moment_leaves_whole_checkpoints(tmp_path: Path) -> None:
    found = stopped("random", tmp_path)
    assert len(found) == 10
    for result in found:
        numbers = result["numbers"]  # those that were to be removed may still be there, after several kills too
        assert len(numbers) >= 2
        assert numbers == list(range(numbers[0], numbers[-1] + 1))
        assert result["after"] == []


def test_however_and_whenever_writing_is_stopped_checkpoints_are_whole(tmp_path: Path) -> None:
    found = stopped("every", tmp_path)
    assert len(found) > 40
    assert {result["how"] for result in found} == {"kill", "error", "interrupt"}
    assert {tuple(result["numbers"]) for result in found} == {(1, 2), (1, 2, 3), (2, 3)}
    for result in found:
        assert result["note"] in (2, 3)
        assert result["after"] == []
        was_cleaning = result["note"] == 3  # and an empty folder is left until the next checkpoint
        assert result["how"] == "kill" or was_cleaning or result["left"] == [], result
        for message in result["raised"] if result["how"] == "error" else ():
            assert result["note"] == 2
            assert re.search(r"cannot write checkpoints.*: No space left.*: '/.*/checkpoints'|cannot be read", message)


def test_a_full_disk_leaves_former_checkpoints(small_disk: Path) -> None:
    folder = CheckpointFolder(small_disk, keep=1)
    folder.prepare()
    half = np.ones(DISK_BYTES // 8, np.float32)
    write(folder, inputs=half)
    folder.note({"a": 1})
    before = names_in(folder)
    for _ in range(3):
        with pytest.raises(OSError, match=r"those that are there stay: No space left on device: '.*small disk'"):
            write(folder, inputs=half, outputs=half)
        assert names_in(folder) == before
    with pytest.raises(OSError, match="No space left"):
        folder.note({"a": "b" * DISK_BYTES})
    assert folder.notes() == {"a": 1}
    Checkpoint(folder.path).check()
    np.testing.assert_array_equal(Checkpoint(folder.path).array("inputs"), half)
