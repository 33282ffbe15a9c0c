"""Event files, which TensorBoard reads. Each event is written at once, or raises OSError.

Writing an event of 15 scalars takes a fraction of a millisecond. TensorBoard's own asynchronous writer would add a
thread, and would report a full disk only at the next write.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_numbers = itertools.count()
_EVENT_FILES = "events.out.tfevents.*"
_EMPTY = ".empty"


class EventFile:
    """A new event file in a folder. The folder is made if it is missing."""

    def __init__(self, folder: Path, suffix: str = "") -> None:
        from tensorboard.summary.writer.record_writer import RecordWriter

        folder.mkdir(parents=True, exist_ok=True)
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}"
        name += f".{next(_numbers):06d}{suffix}"  # TensorBoard reads files in the order of their names
        self._file = (folder / name).open("wb")
        self._records = RecordWriter(self._file)
        try:
            self._write(file_version="brain.Event:2")
        except OSError:
            self.close()
            raise

    def scalars(self, step: int, values: Mapping[str, float]) -> None:
        """Write one point of each curve; `values` are by tag."""
        from tensorboard.compat.proto.summary_pb2 import Summary

        points = [Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]
        self._write(step=step, summary=Summary(value=points))

    def summary(self, step: int, summary: Any) -> None:
        """Write a summary made by one of TensorBoard's plugins."""
        self._write(step=step, summary=summary)

    def graph(self, definition: bytes) -> None:
        """Write a serialised GraphDef."""
        self._write(graph_def=definition)

    def purge(self, step: int) -> None:
        """Tell TensorBoard to drop the run's points from a step on, including those in earlier files."""
        from tensorboard.compat.proto.event_pb2 import SessionLog

        for _ in range(2):  # TensorBoard takes a run's first such event for the run's beginning, and drops nothing
            self._write(step=step, session_log=SessionLog(status=SessionLog.START))

    def close(self) -> None:
        """Close the file; events that can no longer be written are lost."""
        with contextlib.suppress(OSError):
            self._file.close()

    def _write(self, **fields: Any) -> None:
        from tensorboard.compat.proto.event_pb2 import Event

        self._records.write(Event(wall_time=time.time(), **fields).SerializeToString())
        self._records.flush()


def make_known(folder: Path) -> None:
    """Write an empty event file unless the folder has one: TensorBoard ignores folders without event files."""
    if not any(folder.glob(_EVENT_FILES)):
        EventFile(folder, _EMPTY).close()


def folder_of_run(logdir: Path) -> Path:
    """Return the folder of a new TensorBoard run: `logdir`, or ``run-2``, ``run-3``, ... in it if it has a run."""
    folders = itertools.chain([logdir], (logdir / f"run-{number}" for number in itertools.count(2)))
    return next(folder for folder in folders if all(file.name.endswith(_EMPTY) for file in folder.glob(_EVENT_FILES)))


def check_logdir(logdir: str | os.PathLike[str]) -> None:
    """Raise an OSError that names the folder if no file can be written there."""
    folder = Path(logdir)
    probe = folder / f".tfw2v-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"\n" * 4096)
    except OSError as error:
        raise unwritable(logdir, error) from error
    finally:
        with contextlib.suppress(OSError):
            probe.unlink()


def unwritable(logdir: str | os.PathLike[str], error: OSError) -> OSError:
    """Return an error that says that logs cannot be written to this folder, and why."""
    return OSError(error.errno, f"cannot write logs to logdir {os.fspath(logdir)!r}: {error.strerror or error}")
