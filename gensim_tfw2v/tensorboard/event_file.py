"""Event files, which TensorBoard reads: each event is written out when it is given, or raises OSError.

An event of 15 scalars takes a fraction of a millisecond this way. TensorBoard's own asynchronous writer would add a
thread, and report a full disk to whoever writes next.
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
    """An event file of its own in a folder, which is made if need be."""

    def __init__(self, folder: Path, suffix: str = "") -> None:
        from tensorboard.summary.writer.record_writer import RecordWriter

        folder.mkdir(parents=True, exist_ok=True)
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{next(_numbers)}"
        name += suffix
        self._file = (folder / name).open("wb")
        self._records = RecordWriter(self._file)
        try:
            self._write(file_version="brain.Event:2")
        except OSError:
            self.close()
            raise

    def scalars(self, step: int, values: Mapping[str, float]) -> None:
        """Write one point of each curve."""
        from tensorboard.compat.proto.summary_pb2 import Summary

        points = [Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]
        self._write(step=step, summary=Summary(value=points))

    def summary(self, step: int, summary: Any) -> None:
        """Write a summary made by one of TensorBoard's plugins."""
        self._write(step=step, summary=summary)

    def graph(self, definition: bytes) -> None:
        """Write a serialised GraphDef."""
        self._write(graph_def=definition)

    def close(self) -> None:
        """Close the file; what could not be written is given up."""
        with contextlib.suppress(OSError):
            self._file.close()

    def _write(self, **fields: Any) -> None:
        from tensorboard.compat.proto.event_pb2 import Event

        self._records.write(Event(wall_time=time.time(), **fields).SerializeToString())
        self._records.flush()


def make_known(folder: Path) -> None:
    """Write an event file that holds nothing unless there is one: without, TensorBoard passes a folder over."""
    if not any(folder.glob(_EVENT_FILES)):
        EventFile(folder, _EMPTY).close()


def folder_of_run(logdir: Path) -> Path:
    """Return the folder for a new run: `logdir`, or ``run-2``, ``run-3``, ... in it if it holds one already."""
    folders = itertools.chain([logdir], (logdir / f"run-{number}" for number in itertools.count(2)))
    return next(folder for folder in folders if all(file.name.endswith(_EMPTY) for file in folder.glob(_EVENT_FILES)))


def check_logdir(logdir: str | os.PathLike[str]) -> None:
    """Raise OSError that names the folder unless a file can be written there."""
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
    """Return the error that says that logs cannot be written, and why."""
    return OSError(error.errno, f"cannot write logs to logdir {os.fspath(logdir)!r}: {error.strerror or error}")
