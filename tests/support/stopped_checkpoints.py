"""Writes checkpoints in processes that are killed, each at another moment. Prints JSON.

Usage: stopped_checkpoints.py FOLDER {random,every}

With ``random``, a process that writes one checkpoint after the other is killed at ten random moments. With ``every``, a
process is killed, or gets an error or an interrupt, at each moment at which a file is about to be opened, moved, made
or removed. Prints for each what was stopped, which numbers whole checkpoints hold after that, and what is left
unfinished before and after the next `prepare`.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from gensim_tfw2v.checkpoints.arrays import ArrayToWrite
from gensim_tfw2v.checkpoints.folder import Checkpoint, CheckpointFolder
from support.stopped_writes import stop_at

ROWS = 2**12


def write(folder: CheckpointFolder, number: int) -> None:
    """Write a checkpoint whose arrays are full of a number."""
    arrays = {name: ArrayToWrite.of(np.full((ROWS, 8), number, np.float32)) for name in ("inputs", "outputs")}
    folder.write({"number": number}, arrays)
    folder.note({"number": number})


def found_in(path: Path, **more: Any) -> dict[str, Any]:
    """Return what a folder holds, and what `prepare` leaves of it."""
    folder = CheckpointFolder(path, keep=2)
    left = unfinished(path)
    numbers = []
    for checkpoint in map(Checkpoint, folder.checkpoints()):
        checkpoint.check()
        held = {int(value) for name in checkpoint.arrays for value in np.unique(checkpoint.array(name))}
        assert held == {checkpoint.content["number"]}
        numbers += held
    note = folder.notes().get("number")
    folder.prepare()
    return {"numbers": numbers, "note": note, "left": left, "after": unfinished(path)} | more


def unfinished(path: Path) -> list[str]:
    """Return the names in a folder that are no checkpoints' and no notes'."""
    return [name for name in os.listdir(path) if name != "notes.json" and not name.startswith("checkpoint-")]


def killed_at_random(path: Path) -> dict[str, Any]:
    """Kill a process that has written at least one checkpoint, after a random time."""
    folder = CheckpointFolder(path, keep=2)
    folder.prepare()
    before = [int(checkpoint.name.rpartition("-")[2]) for checkpoint in folder.checkpoints()]
    child = os.fork()
    if not child:
        try:
            write_until_killed(folder, max(before, default=0))
        finally:
            os._exit(1)
    while len(folder.checkpoints()) < 2:
        time.sleep(0.001)
    time.sleep(random.random() * 0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return found_in(path)


def write_until_killed(folder: CheckpointFolder, number: int) -> None:
    """Write checkpoints with the numbers after this one, as long as the process that kills this one runs."""
    parent = os.getppid()
    while os.getppid() == parent:
        number += 1
        write(folder, number)


def stopped_at(path: Path, moment: int, how: str) -> dict[str, Any] | None:
    """Write two checkpoints, then stop a process at a moment of writing the third; None if there is no such moment."""
    shutil.rmtree(path, ignore_errors=True)
    folder = CheckpointFolder(path, keep=2)
    folder.prepare()
    for number in (1, 2):
        write(folder, number)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(writing, 1)
        write_and_stop(folder, moment, how)
        os._exit(0)
    os.close(writing)
    with open(reading) as said:
        lines = said.read().splitlines()
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) == (how == "kill" and bool(lines))
    return found_in(path, moment=lines[0], how=how, raised=lines[1:]) if lines else None


def write_and_stop(folder: CheckpointFolder, moment: int, how: str) -> None:
    """Write the third checkpoint and stop at a moment; say which it was, and the error that came of it."""

    def concerns(path: str) -> bool:
        # Paths are relative to an open folder where a whole folder is removed.
        return not os.path.isabs(path) or path.startswith(str(folder.path))

    stop_at(moment, how, concerns)
    try:
        write(folder, 3)
    except BaseException as error:
        print(type(error).__name__, error, flush=True)


def main(path: str, which: str) -> None:
    """Stop one process after the other."""
    results: list[dict[str, Any]] = []
    if which == "random":
        results = [killed_at_random(Path(path)) for _ in range(10)]
    for how in ("kill", "error", "interrupt") if which == "every" else ():
        moment = 1
        while (result := stopped_at(Path(path), moment, how)) is not None:
            results.append(result)
            moment += 1
    print(json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
