"""Writes results: a JSON file with everything and a Markdown page, rewritten after every run."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measuring.checkout import RESULTS

from report import machine
from report.summaries import MeanSd, Row, Spread

MEGABYTE = 1e6
MISSING = "-"


def add_output_arguments(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the folder and the name of the results."""
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="DIR", help="default: benchmarks/results")
    parser.add_argument(
        "--name", type=_file_name, default=name, help=f"results are DIR/NAME.json, DIR/NAME.md, ... (default {name})"
    )


def _file_name(text: str) -> str:
    if not text or Path(text).name != text:
        raise argparse.ArgumentTypeError(f"{text!r} is not the name of a file without a folder")
    return text


@dataclass
class Report:
    """The results of one command."""

    title: str
    head: dict[str, Any]  # from `machine.describe`
    settings: dict[str, Any]
    folder: Path
    name: str
    notes: Sequence[str] = ()
    pictures: list[Path] = field(default_factory=list)

    def save(self, tables: dict[str, list[list[str]]], data: dict[str, Any]) -> str:
        """Write JSON and Markdown, and return the Markdown. The first row of a table is its heading."""
        self.folder.mkdir(parents=True, exist_ok=True)
        everything = {"title": self.title, **self.head, "settings": self.settings, **data}
        _write(self.path(".json"), json.dumps(_plain(everything), indent=1, allow_nan=False) + "\n")
        text = self._markdown(tables)
        _write(self.path(".md"), text)
        return text

    def path(self, ending: str) -> Path:
        """Return the path of this report's file with that ending."""
        return self.folder / f"{self.name}{ending}"

    def _markdown(self, tables: dict[str, list[list[str]]]) -> str:
        parts = [f"# {self.title}", *(f"**{warning}**" for warning in self.head["warnings"])]
        for heading, table in tables.items():
            parts += [f"## {heading}", markdown_table(table)]
        parts += ["\n".join(f"- {note}" for note in self.notes)] if self.notes else []
        parts += [f"![{picture.stem}]({picture.name})" for picture in self.pictures]
        parts += ["## How it was measured", "\n".join(f"- {line}" for line in self._circumstances())]
        return "\n\n".join(parts) + "\n"

    def _circumstances(self) -> Iterable[str]:
        machine, corpus = self.head["machine"], self.head["corpus"]
        load = " ".join(f"{average:.2f}" for average in machine["load_before"])
        yield f"Command: `{self.head['command']}`"
        yield f"Started: {self.head['started']}; load averages before (1, 5, 15 minutes): {load}"
        memory = f"{machine['ram_bytes'] / 1e9:.1f} GB RAM"
        yield f"Machine: {machine['cpu']}, {machine['cores']} cores, {memory}, {machine['system']}"
        yield "\n".join(["Versions:", *(f"  - {name} {version}" for name, version in self.head["versions"].items())])
        if corpus:
            yield f"Corpus: {corpus['name']}, {corpus['bytes']:,} bytes, SHA-256 `{corpus['sha256']}`"
        yield "\n".join(["Settings:", *(f"  - {name}: {_shown(value)}" for name, value in self.settings.items())])


def start_report(title: str, arguments: argparse.Namespace, names: Iterable[str], notes: Sequence[str]) -> Report:
    """Return a report without results, and print a warning if the machine is busy.

    `names` are the arguments that the report lists. From this call on, the package is imported from this checkout.
    """
    head = machine.describe(getattr(arguments, "corpus", None))
    for warning in head["warnings"]:
        say(f"\n*** {warning} ***\n")
    settings = {name: getattr(arguments, name) for name in names}
    return Report(title, head, settings, arguments.output, arguments.name, notes)


def earlier_runs(report: Report, command: str) -> list[dict[str, Any]]:
    """Return the runs that an earlier call of a command has saved; end this process if they have other settings."""
    runs, differs = _saved_runs(report)
    if differs:
        raise SystemExit(
            f"{command}: error: {report.path('.json')} has results with another {', '.join(differs)}; "
            "give another --name"
        )
    return runs


def earlier_runs_with_these_settings(report: Report) -> list[dict[str, Any]]:
    """Return the runs that an earlier call of a command has saved, none if they have other settings."""
    runs, differs = _saved_runs(report)
    if differs:
        say(f"{report.path('.json')} has results with another {', '.join(differs)}, and is measured anew")
    return [] if differs else runs


def _saved_runs(report: Report) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the runs in the results file, and which of its settings are others."""
    path = report.path(".json")
    if not path.exists():
        return [], []
    found = json.loads(path.read_text())
    own = {**_plain(report.settings), "corpus": report.head["corpus"]}
    saved = {**found["settings"], "corpus": found["corpus"]}
    return found["runs"], [name for name, value in own.items() if saved.get(name) != value]


def say(message: str) -> None:
    """Print a message on standard error, so that it is not part of the results."""
    print(message, file=sys.stderr, flush=True)


def markdown_table(table: list[list[str]]) -> str:
    """Return a Markdown table with aligned columns; the first row is the heading."""
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    padded = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in table)
    heading, *lines = (f"| {' | '.join(cells)} |" for cells in padded)
    return "\n".join([heading, f"|{'|'.join('-' * (width + 2) for width in widths)}|", *lines])


def row_table(rows: Sequence[Row], labels: Sequence[str]) -> list[list[str]]:
    """Return the table of speeds, memory and scores, without columns that are empty in all rows."""
    score_names = list(dict.fromkeys(name for row in rows for name in row.scores))
    heading = [
        *(label.replace("_", " ") for label in labels),
        "runs",
        "words/s (min to max)",
        "speed ratio",
        "train s",
        "of it import",
        "of it first graph",
        "words/s without these",
        "build_vocab s",
        "build_vocab ratio",
        "peak RSS MB",
        "pairs/word",
        "bytes/word",
        "loopback bytes/word",
        *score_names,
        "finite",
    ]
    table = [heading, *(_row_cells(row, labels, score_names) for row in rows)]
    empty = {column for column in range(len(heading)) if all(row[column] == MISSING for row in table[1:])}
    return [[cell for column, cell in enumerate(row) if column not in empty] for row in table]


def failure_tables(runs: Iterable[Mapping[str, Any]], names: Sequence[str] = ()) -> dict[str, list[list[str]]]:
    """Return the table of failed runs by its heading, with columns of these names; nothing if none failed."""
    failed = [[*(str(run[name]) for name in names), _one_line(run["error"])] for run in runs if "error" in run]
    return {"Failed runs": [[*(name.replace("_", " ") for name in names), "error"], *failed]} if failed else {}


def _one_line(text: str) -> str:
    return " / ".join(text.splitlines()).replace("|", "\\|")


def _row_cells(row: Row, labels: Sequence[str], score_names: Sequence[str]) -> list[str]:
    """Return the cells of one row of this table."""
    return [
        *(_shown(row.label[label]) for label in labels),
        str(row.runs),
        show_spread(row.words_per_second, ",.0f"),
        show_spread(row.speed_ratio, ".2f"),
        show_middle(row.train_seconds, ".2f"),
        show_middle(row.tensorflow_import_seconds, ".2f"),
        show_middle(row.first_graph_seconds, ".2f"),
        show_middle(row.started_words_per_second, ",.0f"),
        show_middle(row.build_vocab_seconds, ".2f"),
        show_spread(row.build_vocab_ratio, ".2f"),
        f"{row.peak_rss_bytes.middle / MEGABYTE:,.0f}",
        show_middle(row.pairs_per_word, ".3f"),
        show_middle(row.bytes_per_word, ".1f"),
        show_middle(row.loopback_bytes_per_word, ".1f"),
        *(show_score(row.scores.get(name)) for name in score_names),
        "yes" if row.finite else "**NO**",
    ]


def show_spread(values: Spread | None, form: str) -> str:
    """Return the text "middle (low to high)"."""
    return MISSING if values is None else f"{values.middle:{form}} ({values.low:{form}} to {values.high:{form}})"


def show_middle(values: Spread | None, form: str) -> str:
    """Return the text of the middle value."""
    return MISSING if values is None else f"{values.middle:{form}}"


def show_score(score: MeanSd | None) -> str:
    """Return the text "mean ± sd"."""
    if score is None:
        return MISSING
    return f"{score.mean:.2f}" if score.sd is None else f"{score.mean:.2f} ± {score.sd:.2f}"


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return " ".join(_shown(part) for part in value)
    return "default" if value is None else str(value)


def _plain(value: Any) -> Any:
    """Return a value in the types of JSON; numbers that are not finite become null."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _write(path: Path, text: str) -> None:
    """Write a file in one step, so that nobody reads a half-written one."""
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, path)
