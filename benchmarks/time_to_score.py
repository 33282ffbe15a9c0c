"""Measures how soon systems score as gensim does after five epochs: `python benchmarks/time_to_score.py --help`."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from measuring.corpora import articles
from measuring.jobs import MODES, OPTIMIZERS, Job, add_corpus_argument, job_from, number_from, usable_cores
from measuring.runner import run_all
from measuring.systems import SYSTEMS, InProcess, able_to_run, add_systems_arguments, find_or_build
from report import pictures
from report.reports import MISSING, add_output_arguments, failure_tables, say, show_score, show_spread, start_report
from report.stopping import status_of
from report.summaries import MeanSd, Run, Spread, by_round, mean_and_sd, paired_ratio, spread

GENSIM = "gensim"
_GENSIM_EPOCHS = 5  # gensim's own default
_SETTINGS = ("modes", "systems", "repeats", "most_epochs", "workers", "optimizer")
_NOTES = (
    f"The target is gensim's mean score after {_GENSIM_EPOCHS} epochs. The others train with 1, 2, 3, ... epochs until "
    "their mean score is at least as high. Each number of epochs is a training of its own, because the learning rate "
    "falls over all epochs.",
    "All systems have their own defaults. fastText trains without parts of words, as the others do.",
    "seconds: of the whole process, from its start until training ended, with imports and counting words, without "
    "scoring. For other programs, from the program's start to its end, writing the vectors included. Median (least to "
    "most).",
    "ratio: gensim's seconds divided by those of this row (smallest to largest ratio of two runs with equal seeds). "
    "gensim takes turns with one epoch of the others, and is not measured again beside more epochs.",
    "words/s: raw words of the corpus, times epochs, divided by the seconds of training; for tfw2v these include "
    "importing TensorFlow.",
    "score: percent, the mean over wordsim353, simlex999 and the analogies; mean ± standard deviation over seeds. "
    "Where the target is not reached, the best score with its number of epochs.",
)
_RunsByEpochs = Mapping[int, Sequence[Run]]


@dataclass(frozen=True)
class Result:
    """How soon a system reached the target in a mode; if it did not, what scored best."""

    mode: str
    system: str
    reached: bool
    epochs: int  # the fewest that reach the target, or those with the best score
    runs: int
    seconds: Spread | None
    ratio: Spread | None  # None if the target is not reached
    words_per_second: Spread | None
    score: MeanSd | None


def main(argv: list[str] | None = None) -> int:
    """Measure all modes, or draw what was measured; the exit status is 1 if a run failed."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if [arguments.quick, arguments.corpus is not None, arguments.draw is not None].count(True) != 1:
        parser.error("give either a corpus or --quick, or --draw and a result")
    if arguments.draw is not None:
        draw(json.loads(arguments.draw.read_text(encoding="utf8"))["results"], picture_of(arguments.draw))
        return 0
    if arguments.programs is not None:
        find_or_build(arguments.systems, arguments.programs, say)
    others = [system for system in arguments.systems if system != GENSIM]
    arguments.systems = [GENSIM, *able_to_run(others, say)]
    runs: list[dict[str, Any]] = []
    with ExitStack() as stack:
        if arguments.quick:
            arguments.corpus = str(_small_corpus(Path(stack.enter_context(tempfile.TemporaryDirectory()))))
        report = start_report("Seconds until gensim's score is reached", arguments, _SETTINGS, _NOTES)

        def save() -> str:
            data = {"results": [asdict(result) for result in results_of(runs)], "runs": runs}
            return report.save(tables_of(runs), data)

        def keep(record: dict[str, Any]) -> None:
            runs.append(record)
            save()

        for mode in arguments.modes:
            measure(mode, arguments, runs, keep)
    if draw([asdict(result) for result in results_of(runs)], path := picture_of(report.path(".json"))):
        report.pictures.append(path)
    print(save())
    return 1 if any("error" in run for run in runs) else 0


def measure(
    mode: str, arguments: argparse.Namespace, runs: Sequence[Run], keep: Callable[[dict[str, Any]], None]
) -> None:
    """Train with one more epoch after another, and leave out each system that has reached the target.

    `keep` adds a run to `runs`.
    """
    left = [system for system in arguments.systems if system != GENSIM and mode in SYSTEMS[system].modes]
    for epochs in range(1, arguments.most_epochs + 1):
        # gensim takes turns with the others' first epoch.
        jobs = [_job(arguments, mode, GENSIM, _GENSIM_EPOCHS)] if epochs == 1 else []
        jobs += [_job(arguments, mode, system, epochs) for system in left]
        run_all(jobs, arguments.repeats, keep, say)
        groups = _grouped(runs)
        target = target_of(groups, mode)
        if target is None:
            say(f"{mode}: gensim has no score, so there is nothing to reach")
            return
        # A system without a score has failed, and more epochs would fail as well.
        left = [
            system
            for system in left
            if epochs in (scores := scores_of(groups.get((mode, system), {}))) and not reaching(target, scores)
        ]
        if not left:
            return
        say(f"{mode}: below gensim's {target:.2f} after {epochs}: {', '.join(left)}")


def picture_of(result: Path) -> Path:
    """Return the path of the picture beside a file of results."""
    return result.with_name(f"{result.stem}-seconds.png")


def draw(results: Sequence[Mapping[str, Any]], path: Path) -> bool:
    """Draw the seconds of all that reached the target, and return whether there is a picture."""
    if not pictures.is_possible():
        say("no picture: matplotlib is not installed (pip install '.[bench]')")
        return False
    if reached := any(result["reached"] for result in results):
        pictures.draw_seconds(results, path)
    return reached


def reaching(target: float, scores: Mapping[int, float]) -> int | None:
    """Return the fewest epochs whose score is at least the target, None if there are none."""
    return min((epochs for epochs, score in scores.items() if score >= target), default=None)


def target_of(groups: Mapping[tuple[str, str], _RunsByEpochs], mode: str) -> float | None:
    """Return gensim's score in a mode, None if it has none."""
    return scores_of(groups.get((mode, GENSIM), {})).get(_GENSIM_EPOCHS)


def scores_of(group: _RunsByEpochs) -> dict[int, float]:
    """Return the mean score of each number of epochs that has one."""
    found = {epochs: _score(group[epochs]) for epochs in group}
    return {epochs: score.mean for epochs, score in found.items() if score is not None}


def results_of(runs: Sequence[Run]) -> list[Result]:
    """Return a result for each mode that has a target and each system that has a score, in order of appearance."""
    groups = _grouped(runs)
    results = []
    for (mode, system), group in groups.items():
        target, scores = target_of(groups, mode), scores_of(group)
        if target is None or not scores:
            continue
        enough = reaching(target, scores)
        epochs = enough or max(scores, key=scores.__getitem__)
        chosen, gensims = group[epochs], groups[mode, GENSIM][_GENSIM_EPOCHS]
        results.append(
            Result(
                mode=mode,
                system=system,
                reached=enough is not None,
                epochs=epochs,
                runs=len(chosen),
                seconds=spread(map(seconds_of, chosen)),
                ratio=paired_ratio(by_round(gensims, seconds_of), by_round(chosen, seconds_of)) if enough else None,
                words_per_second=_speed(chosen),
                score=_score(chosen),
            )
        )
    return results


def seconds_of(run: Run) -> float:
    """Return the seconds from the start of the process that trains until training ended."""
    if isinstance(SYSTEMS[run["system"]], InProcess):
        return float(run["process_seconds"])
    # Another program is itself that process. If words are counted apart, training does not count them again.
    return float((run["build_vocab_seconds"] or 0.0) + run["train_seconds"])


def tables_of(runs: Sequence[Run]) -> dict[str, list[list[str]]]:
    """Return the tables by their headings, without those that have no rows."""
    results = [["mode", "system", "runs", "epochs", "seconds", "ratio", "words/s", "score"]]
    for result in results_of(runs):
        score = show_score(result.score)
        results.append(
            [
                result.mode,
                result.system,
                str(result.runs),
                str(result.epochs) if result.reached else "not reached",
                show_spread(result.seconds, ".1f") if result.reached else MISSING,
                show_spread(result.ratio, ".2f"),
                show_spread(result.words_per_second, ",.0f"),
                score if result.reached else f"{score} (best, at {result.epochs})",
            ]
        )
    every = [["mode", "system", "epochs", "runs", "seconds", "words/s", "score"]]
    for (mode, system), group in _grouped(runs).items():
        for epochs, own in group.items():
            seconds, speed = show_spread(spread(map(seconds_of, own)), ".1f"), show_spread(_speed(own), ",.0f")
            every.append([mode, system, str(epochs), str(len(own)), seconds, speed, show_score(_score(own))])
    tables = {"Results": results, "Every number of epochs": every}
    failures = failure_tables(runs, ("mode", "system", "epochs", "seed"))
    return {heading: table for heading, table in tables.items() if len(table) > 1} | failures


def _grouped(runs: Sequence[Run]) -> dict[tuple[str, str], dict[int, list[Run]]]:
    """Return the successful runs by mode and system, and then by epochs."""
    groups: dict[tuple[str, str], dict[int, list[Run]]] = {}
    for run in runs:
        if "error" not in run:
            groups.setdefault((run["mode"], run["system"]), {}).setdefault(run["epochs"], []).append(run)
    return groups


def _score(runs: Sequence[Run]) -> MeanSd | None:
    return mean_and_sd(run["scores"]["mean"] for run in runs)


def _speed(runs: Sequence[Run]) -> Spread | None:
    return spread(run["words_per_second"] for run in runs)


def _job(arguments: argparse.Namespace, mode: str, system: str, epochs: int) -> Job:
    optimizer = arguments.optimizer if system.startswith("tfw2v") else None
    return job_from(arguments, mode=mode, system=system, epochs=epochs, optimizer=optimizer, own_rates=True)


def _small_corpus(folder: Path) -> Path:
    """Write 58,000 words of gensim's wheel to a file in a folder, and return its path."""
    path = folder / "lee_background.txt"
    path.write_text("".join(f"{' '.join(words)}\n" for words in articles("lee_background.cor", "utf8")))
    return path


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Measure the seconds from the start of a process until the score is reached that gensim has after "
        f"{_GENSIM_EPOCHS} epochs. gensim is always measured; other systems train with 1, 2, 3, ... epochs until they "
        "reach it. All have their own defaults."
    )
    add, count = parser.add_argument, number_from(1)
    add_corpus_argument(parser, nargs="?")
    add_output_arguments(parser, "time_to_score")
    add("--quick", action="store_true", help="a small corpus, which says whether the command runs, and little else")
    add("--draw", type=Path, metavar="RESULT.json", help="draw the picture of an earlier result, and measure nothing")
    add("--modes", nargs="+", choices=list(MODES), default=list(MODES), help="default: all four")
    add_systems_arguments(parser)
    add("--optimizer", choices=OPTIMIZERS, help="of ours (default: the package's own)")
    add("--repeats", type=count, default=3, metavar="N", help="seeds of everything, from 1 on (default 3)")
    add("--most-epochs", type=count, default=_GENSIM_EPOCHS, metavar="N", help="that are tried (default 5)")
    add("--workers", type=count, default=usable_cores(), metavar="N", help="default: all cores")
    return parser


if __name__ == "__main__":
    raise SystemExit(status_of(main))
