"""Measures how well systems place rare words: `python benchmarks/rare_words.py --help`."""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measuring.jobs import MODES, Job, add_corpus_argument, add_training_arguments, job_from, number_from, usable_cores
from measuring.rare_words import ANCHORS, BURST, SPREAD, Renamed, agreement_by_band, reciprocal_ranks, rename_words
from measuring.runner import run, run_all
from measuring.systems import SYSTEMS
from report.reports import add_output_arguments, row_table, say, show_score, start_report
from report.stopping import status_of
from report.summaries import mean_and_sd, rows_by

REFERENCES = ("gensim", "tfw2v")
_REFERENCE_SEED = 1_000_000  # no run has it: models with equal seeds begin with equal vectors, and agree by these
_LABELS = ("mode", "system")
_NOTES = (
    f"Ranks: before training, 6, 20 or 80 occurrences of a word get another name. {SPREAD} ones are drawn from all of "
    f"its occurrences, {BURST} ones follow each other. The number is 100 times the mean of 1 / rank of the word among "
    "the neighbours of its other name.",
    f"Agreement, by occurrences: the correlation, times 100, between a word's cosines to the {ANCHORS} most frequent "
    "words and its cosines to them in a reference model, which was trained on the same corpus with another seed; the "
    "mean over the words of a band.",
)


def main(argv: list[str] | None = None) -> int:
    """Measure; the exit status is 1 if a run failed."""
    arguments = _parser().parse_args(argv)
    names = ("modes", "repeats", "epochs", "workers", "input", "window", "negative", "min_count", "sample", "alpha",
             "words", "vector_size")  # fmt: skip
    report = start_report("Rare words", arguments, names, _NOTES)
    runs: list[dict[str, Any]] = []

    def save() -> str:
        tables = {"Speed and scores": row_table(rows_by(_LABELS, runs, ("mode",), {"system": "gensim"}), _LABELS)}
        tables |= {"Ranks": _table(runs, "ranks")}
        tables |= {f"Agreement with {name}": _table(runs, f"agreement_{name}") for name in REFERENCES}
        return report.save({heading: table for heading, table in tables.items() if len(table) > 1}, {"runs": runs})

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus = folder / Path(arguments.corpus).name
        try:
            renamed = rename_words(Path(arguments.corpus), corpus, arguments.words, arguments.seed)
        except ValueError as error:
            raise SystemExit(f"rare_words: error: {error}") from None
        say(f"{len(renamed)} words have two names")
        for mode in arguments.modes:
            jobs = [
                job_from(arguments, corpus=str(corpus), mode=mode, system=system, vectors_file=str(folder / "vectors"))
                for system in arguments.systems
            ]
            references = _references(jobs[0], folder)

            def keep(record: dict[str, Any], references: dict[str, Any] = references) -> None:
                if "error" not in record:
                    record |= _measured(record.pop("vectors_file"), renamed, references)
                runs.append(record)
                save()

            run_all(jobs, arguments.repeats, keep, say)
    print(save())
    return 1 if any("error" in run for run in runs) else 0


def _references(job: Job, folder: Path) -> dict[str, Any]:
    """Return the vectors of each reference system, trained as the job says but with a seed that no run has."""
    references = {}
    for system in REFERENCES:
        say(f"reference: {system} {job.mode}")
        path = folder / "reference"
        run(dataclasses.replace(job, system=system, seed=_REFERENCE_SEED, scores=False, vectors_file=str(path)))
        references[system] = _loaded(path)
    return references


def _measured(path: str, renamed: Sequence[Renamed], references: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Return what is measured of the vectors in that file."""
    vectors = _loaded(Path(path))
    agreements = {f"agreement_{name}": agreement_by_band(vectors, reference) for name, reference in references.items()}
    return {"ranks": reciprocal_ranks(vectors, renamed), **agreements}


def _loaded(path: Path) -> Any:
    from gensim.models import KeyedVectors

    return KeyedVectors.load(str(path))


def _table(runs: Sequence[dict[str, Any]], measure: str) -> list[list[str]]:
    """Return the table of one measure: a row for each mode and system, with means and standard deviations."""
    values_of: dict[tuple[str, ...], list[dict[str, float]]] = {}
    for record in runs:
        if measure in record:
            values_of.setdefault(tuple(record[name] for name in _LABELS), []).append(record[measure])
    columns = list(dict.fromkeys(column for own in values_of.values() for values in own for column in values))
    table = [[*_LABELS, *columns]]
    for label, own in values_of.items():
        table.append([*label, *(show_score(mean_and_sd(values[column] for values in own)) for column in columns)])
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Rename some occurrences of words, train, and see whether vectors place the rare new name where "
        "the word is."
    )
    add = parser.add_argument
    add_corpus_argument(parser)
    add_output_arguments(parser, "rare_words")
    add("--modes", nargs="+", choices=list(MODES), default=["sg-neg", "cbow-neg"], help="default: sg-neg cbow-neg")
    add("--systems", nargs="+", choices=list(SYSTEMS), default=["gensim", "tfw2v"], help="default: gensim tfw2v")
    add("--repeats", type=number_from(1), default=3, metavar="N", help="seeds of each system and mode (default 3)")
    add("--words", type=number_from(6), default=3000, metavar="N", help="words that get a second name (default 3000)")
    add("--vector-size", type=int, default=100, metavar="N", help="default: 100")
    add("--workers", type=int, default=usable_cores(), metavar="N", help="default: all cores")
    add("--seed", type=int, default=1, metavar="N", help="of the names, and of the first run (default 1)")
    add_training_arguments(parser)
    return parser


if __name__ == "__main__":
    raise SystemExit(status_of(main))
