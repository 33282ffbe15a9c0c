"""The files of a run: its events, those of a cluster's tasks, and what becomes of errors in writing them."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gensim_tfw2v.tensorboard.event_file import EventFile, unwritable

logger = logging.getLogger(__name__)


class RunFiles:
    """The run's event file and those of a cluster's tasks, in folders of their own.

    An error raises OSError, or, once `forgive` is set, is warned of, and nothing is written any more.
    """

    def __init__(self, logdir: str | os.PathLike[str], folder: Path) -> None:
        self._logdir, self._folder = logdir, folder
        self._files: dict[str | None, EventFile] = {}
        self._broken = False
        self.forgive = False
        self.do(lambda: self._file(None))

    def scalars(self, step: int, points: Mapping[str, float], task: str | None = None) -> None:
        """Write one point of each curve, of the run or of one of its tasks."""
        self.do(lambda: self._file(task).scalars(step, points))

    def summary(self, step: int, summary: Any) -> None:
        """Write a plugin's summary."""
        self.do(lambda: self._file(None).summary(step, summary))

    def graph(self, definition: bytes) -> None:
        """Write a graph."""
        self.do(lambda: self._file(None).graph(definition))

    def do(self, write: Callable[[], object]) -> None:
        """Call a function that writes, and see to its errors."""
        if self._broken:
            return
        try:
            write()
        except OSError as error:
            if not self.forgive:
                raise unwritable(self._logdir, error) from error
            self._broken = True
            logger.warning("%s; training goes on without", unwritable(self._logdir, error).args[1])

    def close(self) -> None:
        """Close all files."""
        for file in self._files.values():
            file.close()

    def _file(self, task: str | None) -> EventFile:
        if task not in self._files:
            folder = self._folder if task is None else self._folder / "tasks" / task.replace("/", "-")
            self._files[task] = EventFile(folder)
        return self._files[task]
