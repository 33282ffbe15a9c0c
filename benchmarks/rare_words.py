"""Measures scores and rare words after several numbers of epochs: `python benchmarks/rare_words.py --help`."""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from measuring.jobs import (
    MODES,
    OPTIMIZERS,
    Job,
    add_corpus_argument,
    add_training_arguments,
    job_from,
    number_from,
    usable_cores,
)
from measuring.rare_pairs import make_words_rare, scores_of_pairs
from measuring.rare_words import (
    ANCHORS,
    BURST,
    COUNTS,
    SPREAD,
    agreement_by_band,
    reciprocal_ranks,
    rename_halves,
    rename_words,
)
from measuring.runner import in_turns, run, run_all
from measuring.systems import SYSTEMS
from report.reports import add_output_arguments, earlier_runs, failure_tables, row_table, say, show_score, start_report
from report.stopping import status_of
from report.summaries import mean_and_sd, rows_by

REFERENCES = ("gensim", "tfw2v")
_REFERENCE_SEED = 1_000_000  # no run has it: models with equal seeds begin with equal vectors, and agree by these
_LABELS = ("mode", "epochs", "setting")
_OF_RUN = ("mode", "epochs", "system", "optimizer", "seed")  # what tells two runs of one report apart
_SETTINGS = ("words", "pairs", "halves", "counts", "anchors", "references", "workers", "input", "window", "negative",
             "min_count", "sample", "alpha", "schedule", "vector_size", "seed")  # fmt: skip
_NOTES = (
    f"Ranks: before training, some occurrences of a word get another name, as many as the column says. {SPREAD} ones "
    f"are drawn from all of its occurrences, {BURST} ones follow each other. With `--halves`, the most frequent words "
    "have either of two names equally often. The number is 100 times the mean of 1 / rank of the word among the "
    "neighbours of its other name; the last column is the mean of the columns.",
    "Agreement, by occurrences: cosines of a word to the most frequent words, the anchors, and the same cosines in a "
    "reference model. The reference was trained on the same corpus with another seed and the most epochs. The number "
    "is 100 times their correlation, as the mean over the words of a band.",
    "Pairs: with `--pairs`, half of the words of the similarity sets keep as many occurrences as `--counts` says, one "
    "count for each word. All other occurrences of them get another name. The number is 100 times Spearman's "
    "correlation with the judgements, by how many words of a pair are rare, as the mean of both sets.",
    "Speeds say something only if nothing else ran on the machine.",
)


def main(argv: list[str] | None = None) -> int:
    """Measure; the exit status is 1 if a run failed."""
    arguments = _parser().parse_args(argv)
    report = start_report("Quality of vectors, and of rare words", arguments, _SETTINGS, _NOTES)
    runs = [run for run in earlier_runs(report, "rare_words") if "error" not in run]

    def save() -> str:
        return report.save(tables_of(runs), {"runs": runs})

    def is_done(job: Job) -> bool:
        return any(all(run[name] == getattr(job, name) for name in _OF_RUN) for run in runs)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        jobs_by_mode = {mode: jobs_of(arguments, mode, folder) for mode in arguments.modes}
        left = [
            jobs
            for jobs in jobs_by_mode.values()
            if not all(is_done(job) for _, job in in_turns(jobs, arguments.repeats))
        ]
        measure = _measure(arguments, folder) if left else lambda vectors: {}
        for jobs in left:
            references = _references(jobs, arguments, folder)

            def keep(record: dict[str, Any], references: dict[str, Any] = references) -> None:
                record["setting"] = _setting_of(record["system"], record["optimizer"])
                vectors_file = record.pop("vectors_file")
                if "error" not in record:
                    vectors = _loaded(vectors_file)
                    record |= measure(vectors) | _agreements(vectors, references, arguments.anchors)
                runs.append(record)
                save()

            run_all(jobs, arguments.repeats, keep, say, is_done)
    print(save())
    return 1 if any("error" in run for run in runs) else 0


def jobs_of(arguments: argparse.Namespace, mode: str, folder: Path) -> list[Job]:
    """Return the jobs of one round: each number of epochs with each system, and ours with each optimizer."""
    corpus = _corpus_in(folder, arguments)
    return [
        job_from(
            arguments,
            corpus=str(corpus),
            mode=mode,
            epochs=epochs,
            system=system,
            optimizer=optimizer,
            vectors_file=str(folder / "vectors"),
        )
        for epochs in arguments.epochs
        for system in arguments.systems
        for optimizer in (arguments.optimizers if system.startswith("tfw2v") else [None])
    ]


def tables_of(runs: Sequence[dict[str, Any]]) -> dict[str, list[list[str]]]:
    """Return the tables by their headings, without those that have no rows."""
    order = {mode: number for number, mode in enumerate(MODES)}
    good = sorted((run for run in runs if "error" not in run), key=lambda run: (order[run["mode"]], run["epochs"]))
    rows = rows_by(_LABELS, good, ("mode", "epochs"), {"setting": "gensim"})
    tables = {
        "Speed and scores": row_table(rows, _LABELS),
        "Ranks": _table(good, "ranks"),
        "Pairs": _table(good, "pairs"),
    }
    tables |= {f"Agreement with {name}": _table(good, f"agreement_{name}") for name in REFERENCES}
    return {heading: table for heading, table in tables.items() if len(table) > 1} | failure_tables(runs)


def _corpus_in(folder: Path, arguments: argparse.Namespace) -> Path:
    """Return the corpus that is trained."""
    corpus = Path(arguments.corpus)
    return folder / corpus.name if arguments.words or arguments.pairs else corpus


def _measure(arguments: argparse.Namespace, folder: Path) -> Callable[[Any], dict[str, dict[str, float]]]:
    """Write the corpus that is trained, and return what measures vectors of its words with two names."""
    corpus, renamed_corpus = Path(arguments.corpus), _corpus_in(folder, arguments)
    seed, counts, anchors = arguments.seed, arguments.counts, arguments.anchors
    try:
        if arguments.pairs:
            rare = make_words_rare(corpus, renamed_corpus, seed, counts)
            say(f"{len(rare)} words of the similarity sets are rare")
            return lambda vectors: {"pairs": scores_of_pairs(vectors, rare)}
        if not arguments.words:
            return lambda vectors: {}
        if arguments.halves:
            renamed = rename_halves(corpus, renamed_corpus, arguments.words, seed)
        else:
            renamed = rename_words(corpus, renamed_corpus, arguments.words, seed, counts, anchors)
    except ValueError as error:
        raise SystemExit(f"rare_words: error: {error}") from None
    say(f"{len(renamed)} words have two names")

    def ranks(vectors: Any) -> dict[str, dict[str, float]]:
        by_kind = reciprocal_ranks(vectors, renamed)
        return {"ranks": by_kind | {"mean": fmean(by_kind.values())}}

    return ranks


def _setting_of(system: str, optimizer: str | None) -> str:
    return system if optimizer is None else f"{system} {optimizer}"


def _references(jobs: Sequence[Job], arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Return the vectors of each reference system, trained as the jobs say but with a seed that no run has."""
    references = {}
    for system in arguments.references:
        say(f"reference: {system} {jobs[0].mode}")
        path = folder / "reference"
        job = dataclasses.replace(jobs[0], system=system, optimizer=None, epochs=max(arguments.epochs))
        run(dataclasses.replace(job, seed=_REFERENCE_SEED, scores=False, vectors_file=str(path)))
        references[system] = _loaded(str(path))
    return references


def _agreements(vectors: Any, references: dict[str, Any], anchors: int) -> dict[str, dict[str, float]]:
    """Return how far vectors agree with those of each reference system, by bands of frequency."""
    return {f"agreement_{name}": agreement_by_band(vectors, found, anchors) for name, found in references.items()}


def _loaded(path: str) -> Any:
    from gensim.models import KeyedVectors

    return KeyedVectors.load(path)


def _table(runs: Sequence[dict[str, Any]], measure: str) -> list[list[str]]:
    """Return the table of one measure: a row for each mode and setting, with means and standard deviations."""
    values_of: dict[tuple[Any, ...], list[dict[str, float]]] = {}
    for record in runs:
        if measure in record:
            values_of.setdefault(tuple(record[name] for name in _LABELS), []).append(record[measure])
    columns = list(dict.fromkeys(column for own in values_of.values() for values in own for column in values))
    table = [[*_LABELS, *columns]]
    for label, own in values_of.items():
        table.append(
            [*map(str, label), *(show_score(mean_and_sd(values[column] for values in own)) for column in columns)]
        )
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Train with several numbers of epochs and optimizers beside gensim, score the vectors, and see "
        "whether they place the rare new name of some renamed occurrences where the word is. Run it again, with more "
        "modes, epochs, optimizers or repeats if you like: runs that the results have are left out."
    )
    add, count = parser.add_argument, number_from(1)
    add_corpus_argument(parser)
    add_output_arguments(parser, "rare_words")
    add("--modes", nargs="+", choices=list(MODES), default=["sg-neg", "cbow-neg"], help="default: sg-neg cbow-neg")
    add("--systems", nargs="+", choices=list(SYSTEMS), default=["gensim", "tfw2v"], help="default: gensim tfw2v")
    add("--optimizers", nargs="+", choices=OPTIMIZERS, default=[None], help="of ours (default: the package's own)")
    add("--repeats", type=count, default=3, metavar="N", help="seeds of each system and mode (default 3)")
    add("--words", type=number_from(0), default=3000, metavar="N", help="words that get a second name (default 3000)")
    add("--pairs", action="store_true", help="instead of `--words`, make half of the words of gensim's similarity sets "
        "rare: each keeps one of the counts")  # fmt: skip
    add("--halves", action="store_true", help="instead of `--counts`, half of the occurrences of the most frequent "
        "words get the second name")  # fmt: skip
    add("--counts", nargs="+", type=count, default=list(COUNTS), metavar="N", help="occurrences that get the second "
        f"name (default {' '.join(map(str, COUNTS))}); a word needs four times the largest number")  # fmt: skip
    add("--anchors", type=count, default=ANCHORS, metavar="N", help=f"most frequent words (default {ANCHORS}): their "
        "cosines say where a word is, and they get no second name")  # fmt: skip
    add("--references", nargs="*", choices=REFERENCES, default=list(REFERENCES), help="systems whose vectors say where "
        "words belong (default: both)")  # fmt: skip
    add("--vector-size", type=int, default=100, metavar="N", help="default: 100")
    add("--workers", type=int, default=usable_cores(), metavar="N", help="default: all cores")
    add("--seed", type=int, default=1, metavar="N", help="of the names, and of the first run (default 1)")
    add_training_arguments(parser, nargs="+", default=[Job("", "").epochs])
    return parser


if __name__ == "__main__":
    raise SystemExit(status_of(main))
