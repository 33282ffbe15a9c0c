"""The event files of a TensorBoard run and of a cluster's tasks, and the handling of errors in writing."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from gensim_tfw2v.tensorboard.event_file import EventFile, unwritable

logger = logging.getLogger(__name__)

_TASKS = "tasks"


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
        self.do(lambda: self._file(task).scalars(step, points))

    def summary(self, step: int, summary: Any) -> None:
        """Write a summary made by one of TensorBoard's plugins."""
        self.do(lambda: self._file(None).summary(step, summary))

    def purge(self, step: int) -> None:
        """Tell TensorBoard to drop points from a step on, for the run and for every task that it ever had."""
        self._purged_step = step
        for file in self._files.values():
            self.do(partial(file.purge, step))
        written = {self._folder_of(task) for task in self._files}
        for folder in (self._folder / _TASKS).glob("*/"):
            if folder not in written:
                self.do(partial(_purge_former, folder, step))

    def graph(self, definition: bytes) -> None:
        """Write a serialised GraphDef."""
        self.do(lambda: self._file(None).graph(definition))

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


def _purge_former(folder: Path, step: int) -> None:
    """Tell TensorBoard to drop the points of a task, which may no longer exist, from a step on."""
    file = EventFile(folder)
    try:
        file.purge(step)
    finally:
        file.close()
