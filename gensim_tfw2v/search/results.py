"""The trainings of a search, and the file that keeps them: one line of JSON each, so that a search can resume."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_FORMAT = "gensim-tfw2v search 1"


@dataclass(frozen=True)
class Trial:
    """One training of a search."""

    settings: dict[str, Any]
    """Arguments of `TFWord2Vec`, without `epochs`."""
    epochs: int
    value: float | None
    """Of the metric; None if training diverged."""
    seconds: float

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `TFWord2Vec` that train these settings."""
        return self.settings | {"epochs": self.epochs}


class ResultsFile:
    """The trainings that are known, in memory and, if there is a path, in a file.

    A last line that was cut off while it was written is dropped.

    Parameters
    ----------
    path : str or os.PathLike, optional
        The file. It is made if it is not there.
    search : mapping
        What results depend on beside settings and epochs. A file of another search is refused.
    """

    def __init__(self, path: str | os.PathLike[str] | None, search: Mapping[str, Any]) -> None:
        self._path = None if path is None else Path(path)
        self._known: dict[str, Trial] = {}
        if self._path is None:
            return
        header = {"format": _FORMAT, **search}
        if not self._path.exists() or not self._path.stat().st_size:
            self._append(header)
            return
        lines = self._whole_lines()
        _check_header(self._path, lines[:1], header)
        for number, line in enumerate(lines[1:], start=2):
            trial = _trial_in(self._path, number, line)
            self._known[_key(trial.settings, trial.epochs)] = trial

    def find(self, settings: Mapping[str, Any], epochs: int) -> Trial | None:
        """Return the training with these settings, None if there was none."""
        return self._known.get(_key(settings, epochs))

    def add(self, trial: Trial) -> None:
        """Keep a training, in the file as well."""
        self._known[_key(trial.settings, trial.epochs)] = trial
        if self._path is not None:
            self._append(asdict(trial))

    def _append(self, content: Mapping[str, Any]) -> None:
        assert self._path is not None
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(content) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _whole_lines(self) -> list[str]:
        """Return the lines that end, and cut what follows them off the file."""
        assert self._path is not None
        data = self._path.read_bytes()
        end = data.rfind(b"\n") + 1
        if end and end < len(data):  # a file of one line without an end may be anything
            with self._path.open("r+b") as file:
                file.truncate(end)
        return data[:end].decode("utf-8", "replace").split("\n")[:-1]


def _key(settings: Mapping[str, Any], epochs: int) -> str:
    return json.dumps([dict(settings), epochs], sort_keys=True)


def _check_header(path: Path, lines: list[str], header: Mapping[str, Any]) -> None:
    """Raise ValueError unless the file's first line is this header."""
    try:
        found = json.loads(lines[0])
        is_header = found["format"] == _FORMAT
    except (IndexError, KeyError, TypeError, ValueError, RecursionError):
        is_header = False
    if not is_header:
        raise ValueError(f"results {str(path)!r} is no file of results of a search; name another one")
    other = sorted(name for name in header.keys() | found.keys() if header.get(name) != found.get(name))
    if other:
        name = other[0]
        raise ValueError(
            f"results {str(path)!r} belongs to another search, whose {name} was {found.get(name)!r} and not "
            f"{header.get(name)!r}; name another file"
        )


def _trial_in(path: Path, number: int, line: str) -> Trial:
    try:
        trial = Trial(**json.loads(line))
        if not isinstance(trial.settings, dict) or type(trial.epochs) is not int:
            raise ValueError("it has no settings and epochs")
        if not (trial.value is None or _is_number(trial.value)) or not _is_number(trial.seconds):
            raise ValueError("its value or seconds are no numbers")
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"results {str(path)!r} is damaged in line {number}: {error}; remove the line") from None
    return trial


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
