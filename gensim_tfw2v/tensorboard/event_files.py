"""Event files, which TensorBoard reads: of a run and of a cluster's tasks. Each event is written at once.

Writing an event of 15 scalars takes a fraction of a millisecond. TensorBoard's own asynchronous writer would add a
thread, and would report a full disk only at the next write.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import socket
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

_numbers = itertools.count()
_EVENT_FILES = "events.out.tfevents.*"
_EMPTY = ".empty"
_TASKS = "tasks"


class EventFile:
    """A new event file in a folder, which is made if it is missing. An error in writing raises OSError."""

    def __init__(self, folder: Path, suffix: str = "") -> None:
        from tensorboard.summary.writer.record_writer import RecordWriter

        folder.mkdir(parents=True, exist_ok=True)
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}"
        name += f".{next(_numbers):06d}{suffix}"  # TensorBoard reads files in the order of their names
        self._file = (folder / name).open("wb")
        self._records = RecordWriter(self._file)
        try:
            self.write(file_version="brain.Event:2")
        except OSError:
            self.close()
            raise

    def write(self, **fields: Any) -> None:
        """Write an event with these fields of the protocol buffer."""
        from tensorboard.compat.proto.event_pb2 import Event

        self._records.write(Event(wall_time=time.time(), **fields).SerializeToString())
        self._records.flush()

    def purge(self, step: int) -> None:
        """Tell TensorBoard to drop the run's points from a step on, including those in earlier files."""
        from tensorboard.compat.proto.event_pb2 import SessionLog

        for _ in range(2):  # TensorBoard takes a run's first such event for the run's beginning, and drops nothing
            self.write(step=step, session_log=SessionLog(status=SessionLog.START))

    def close(self) -> None:
        """Close the file; events that can no longer be written are lost."""
        with contextlib.suppress(OSError):
            self._file.close()


class RunFiles:
    """The event file of a TensorBoard run, and one for each task of a cluster in the task's folder.

    An error in writing raises OSError. If `only_warn` is set, it logs a warning instead and ends the log.
    """

    def __init__(self, logdir: str | os.PathLike[str], folder: Path) -> None:
        self._logdir, self._folder = logdir, folder
        self._files: dict[str | None, EventFile] = {}
        self._has_failed = False
        self._purged_step: int | None = None
        self.only_warn = False
        self.do(lambda: self._file(None))

    def scalars(self, step: int, points: Mapping[str, float], task: str | None = None) -> None:
        """Write one point of each curve, for the run or for one task of the cluster."""
        from tensorboard.compat.proto.summary_pb2 import Summary

        values = [Summary.Value(tag=tag, simple_value=value) for tag, value in points.items()]
        self.do(lambda: self._file(task).write(step=step, summary=Summary(value=values)))

    def write(self, **fields: Any) -> None:
        """Write an event of the run with these fields of the protocol buffer."""
        self.do(lambda: self._file(None).write(**fields))

    def purge(self, step: int) -> None:
        """Tell TensorBoard to drop points from a step on, for the run and for every task that it ever had."""
        self._purged_step = step
        for file in self._files.values():
            self.do(partial(file.purge, step))
        written = {self._folder_of(task) for task in self._files}
        for folder in (self._folder / _TASKS).glob("*/"):
            if folder not in written:
                self.do(partial(self._purge_former, folder, step))

    def do(self, write: Callable[[], object]) -> None:
        """Call a function that writes, and handle its errors."""
        if self._has_failed:
            return
        try:
            write()
        except OSError as error:
            if not self.only_warn:
                raise unwritable(self._logdir, error) from error
            self._has_failed = True
            logger.warning("%s; training continues without a log", unwritable(self._logdir, error).args[1])

    def close(self) -> None:
        """Close all files."""
        for file in self._files.values():
            file.close()

    def _file(self, task: str | None) -> EventFile:
        if task not in self._files:
            self._files[task] = EventFile(self._folder_of(task))
            if self._purged_step is not None:
                self._files[task].purge(self._purged_step)
        return self._files[task]

    def _folder_of(self, task: str | None) -> Path:
        return self._folder if task is None else self._folder / _TASKS / task.replace("/", "-")

    @staticmethod
    def _purge_former(folder: Path, step: int) -> None:
        """Tell TensorBoard to drop the points of a task, which may no longer exist, from a step on."""
        with contextlib.closing(EventFile(folder)) as file:
            file.purge(step)


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
