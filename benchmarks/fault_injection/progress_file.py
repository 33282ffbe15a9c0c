"""Follows the file to which the coordinators of a training write their progress."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class ProgressFile:
    """The lines of a file that grows.

    Parameters
    ----------
    words : int
        Raw words that the training has in all.
    """

    def __init__(self, path: Path, words: int) -> None:
        self._path, self._words, self._read, self._part = path, words, 0, ""
        self.share = 0.0  # of the words, the most that were trained at any time
        self.lines: list[dict[str, Any]] = []
        path.write_text("")

    def new_lines(self) -> list[dict[str, Any]]:
        """Return the lines since the last call, each with the share of the words that were trained before."""
        with self._path.open() as file:
            file.seek(self._read)
            text = self._part + file.read()
            self._read = file.tell()
        *whole, self._part = text.split("\n")
        found = []
        for line in map(_parsed, whole):
            if line is not None:
                self.share = max(self.share, line.get("words", 0) / self._words)
                found.append({"stage": "words", **line, "share": self.share})
        self.lines += found
        return found

    def error_of(self, process: int) -> dict[str, Any]:
        """Return the error that a process has written before it ended."""
        return next(line for line in reversed(self.lines) if (line["stage"], line["process"]) == ("error", process))


def _parsed(text: str) -> dict[str, Any] | None:
    """Return what a line says, None if a killed process has written only a part of it."""
    try:
        found: dict[str, Any] = json.loads(text)
    except ValueError:
        return None
    return found
