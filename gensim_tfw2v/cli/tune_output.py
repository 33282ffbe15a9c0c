"""What `tfw2v tune` prints: a table or JSON, and the command that trains with the best settings."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gensim_tfw2v.cli.columns import lines_of_columns
from gensim_tfw2v.cli.setting_flags import flags_of

if TYPE_CHECKING:
    from gensim_tfw2v.search.results import Trial
    from gensim_tfw2v.search.search import SearchResult

_MOST_ROWS = 10


def as_text(found: SearchResult, corpus: Path, column: str | None) -> str:
    """Return a table of the best trainings and of the default settings, and the command of the best one."""
    best, default = found.best, found.default
    seconds = sum(trial.seconds for trial in found.trials)
    ended = "" if found.ended == "complete" else f" ({found.ended})"
    counted = f"{len(found.trials)} trainings in {seconds:.1f} s{ended}"
    if best is default:
        summary = f"the default settings are the best of {counted}"
    else:
        summary = f"{found.metric} {_number(best.value)}, the defaults {_number(default.value)}; {counted}"
    return "\n".join([*lines_of_columns(_table(found), at_left=0), "", summary, command_of(best, corpus, column)])


def as_json(found: SearchResult, corpus: Path, column: str | None) -> str:
    """Return everything as JSON."""
    content = {
        "metric": found.metric,
        "ended": found.ended,
        "best": _content(found.best),
        "default": _content(found.default),
        "command": command_of(found.best, corpus, column),
        "trainings": [_content(trial) for trial in found.trials],
    }
    return json.dumps(content, indent=2, ensure_ascii=False)


def line_about(trial: Trial, best: Trial, part: float) -> str:
    """Return a line about a training that has ended."""
    return f"{part:4.0%}  {_number(trial.value)}  best {_number(best.value)}  {_listed(trial.arguments)}"


def command_of(trial: Trial, corpus: Path, column: str | None) -> str:
    """Return the command line that trains with the settings of a training."""
    named = [] if column is None else ["--column", column]
    words = ["tfw2v", "train", str(corpus), *named, "--output", "vectors.kv", *flags_of(trial.arguments)]
    return shlex.join(words)


def _content(trial: Trial) -> dict[str, Any]:
    return {"settings": trial.arguments, "value": trial.value, "seconds": round(trial.seconds, 3)}


def _table(found: SearchResult) -> list[list[str]]:
    """Return the rows of the table, the best trainings first, with the settings that differ."""
    shown = list(found.trials[:_MOST_ROWS])
    if found.default not in shown:
        shown.append(found.default)
    names = [name for name in found.best.settings if len({trial.settings[name] for trial in found.trials}) > 1]
    rows = [[found.metric, "epochs", "seconds", *names]]
    for trial in shown:
        row = [_number(trial.value), str(trial.epochs), f"{trial.seconds:.1f}"]
        row += [str(trial.settings[name]) for name in names]
        rows.append([*row, *(["the defaults"] if trial is found.default else [])])
    return rows


def _number(value: float | None) -> str:
    return "failed" if value is None else f"{value:.4f}"


def _listed(settings: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in settings.items())
