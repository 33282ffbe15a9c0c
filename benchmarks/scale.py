"""Simulates trainings, beside measured ones and at sizes that cannot run here: `python benchmarks/scale.py --help`."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from measuring.checkout import RESULTS, use_checkout
from measuring.jobs import MODES, number_from
from report import pictures, scale_pictures
from report.reports import Report, add_output_arguments, say, start_report
from report.scale_table import failure_table, near_table, scale_table, score_table, validation_table
from report.stopping import status_of

_SETTINGS = ("workers", "words", "vocabulary", "vocabularies", "many_workers", "vector_size", "mode", "cores",
             "gigabits", "price", "memory", "workers_a_server", "long_words", "spreads", "days", "checkpoint_every",
             "restart_seconds", "profile", "seed")  # fmt: skip
_NOTES = (
    "Nothing here was measured except the columns that say so. Measured trainings are those of the results named.",
    "costs: fitted: the training is one of the two whose processor seconds gave the costs. predicted: it is not. "
    "transferred: the costs are those of `designs`, measured on another day and with other quotas; only what a word "
    "costs is that of its own results, from their training with one worker.",
    "staleness: blocks of others between a block's pull and its push, times the share of the training that these are. "
    "loss of score: slope times staleness; each training is predicted by the slope of all others.",
    "default: blocks as long as the package chooses. long: `batch_words` for each block; with averaging, for each "
    "worker's part of a round. free coordinator: as if it computed nothing, which shows the next limit.",
    "words not seen: of other workers, between the time at which a worker gets rows and that at which its changes are "
    "in the tables. Rare rows, with averaging; all words of other sub-models, with partition.",
    "busiest: the cores that work for the largest share of the time. A server's link is not shown.",
    "GB: of a worker with averaging and partition, of a server's tables otherwise.",
    "Simulated clusters have a corpus that is encoded, so that workers read it. A message between two tasks takes "
    "0.1 ms of a core beside its bytes: this number is assumed.",
)


def main(argv: list[str] | None = None) -> int:
    """Simulate, and save tables and pictures; the exit status is 0."""
    arguments = _parser().parse_args(argv)
    report = start_report("Trainings, simulated", arguments, _SETTINGS, _NOTES)
    report.head["warnings"] = []  # a busy machine changes no figure: nothing is timed
    from simulation.scores import points_of, slope_of, without_each
    from simulation.sweeps import by_failures, by_speeds, by_vocabulary, by_workers

    began = time.monotonic()
    data: dict[str, Any] = {"validation": _validation(arguments.results)}
    points = points_of(arguments.results)
    slope = slope_of(points)
    data["score_slope"] = slope
    data["scores"] = [
        {"name": point.name, "staleness": point.staleness, "loss": point.loss, "predicted": predicted}
        for point, predicted in without_each(points)
    ]
    cluster = _cluster(arguments)
    many = arguments.many_workers
    sweeps = {
        "workers": lambda: by_workers(cluster, arguments.workers, slope),
        "vocabularies": lambda: by_vocabulary(cluster, arguments.vocabularies, many, slope),
        "speeds": lambda: by_speeds(cluster, arguments.spreads, many, slope),
        "failures": lambda: by_failures(cluster, data["workers"], arguments.days),
    }
    for name, sweep in sweeps.items():
        say(f"{name}, after {time.monotonic() - began:.0f} s")
        data[name] = list(sweep())
    _draw(report, data)
    print(report.save(_tables(data), data))
    say(f"done after {time.monotonic() - began:.0f} s")
    return 0


def _validation(results: Path) -> list[dict[str, Any]]:
    from simulation.validation import validate

    return [
        {
            "file": each.cell.file,
            "mode": each.cell.mode,
            "design": each.cell.design,
            "workers": each.cell.workers,
            "use": each.use,
            "seconds": each.cell.seconds,
            "simulated_seconds": each.outcome.seconds,
            "seconds_ratio": each.seconds_ratio,
            "bytes_a_word": each.cell.bytes_a_word,
            "simulated_bytes_a_word": each.outcome.bytes_a_word,
            "bytes_ratio": each.bytes_ratio,
            "stale_blocks": each.cell.staleness_blocks,
            "simulated_stale_blocks": each.outcome.staleness_blocks,
        }
        for each in validate(results)
    ]


def _cluster(arguments: argparse.Namespace) -> Any:
    from simulation.sweeps import Cluster

    from gensim_tfw2v.planning.profiles import profile_named

    return Cluster(
        words=arguments.words,
        vocabulary=arguments.vocabulary,
        vector_size=arguments.vector_size,
        mode=arguments.mode,
        cores=arguments.cores,
        gigabits=arguments.gigabits,
        price=arguments.price,
        memory=arguments.memory * 1e9,
        workers_a_server=arguments.workers_a_server,
        long_words=arguments.long_words,
        checkpoint_every=arguments.checkpoint_every,
        restart_seconds=arguments.restart_seconds,
        profile=profile_named(arguments.profile),
        seed=arguments.seed,
    )


def _tables(data: dict[str, Any]) -> dict[str, list[list[str]]]:
    from simulation.validation import NOT_USED

    blocks = dict.fromkeys(each["blocks"] for each in data["workers"])
    by_blocks = {
        f"By number of workers, {rule} blocks": scale_table(
            [each for each in data["workers"] if each["blocks"] == rule], ["workers"]
        )
        for rule in blocks
    }
    return {
        "Simulated beside measured": near_table(data["validation"], NOT_USED),
        "Each training": validation_table(data["validation"]),
        f"Scores by staleness, slope {data['score_slope']:.3f}": score_table(data["scores"]),
        **by_blocks,
        "By vocabulary, long blocks": scale_table(data["vocabularies"], ["vocabulary", "workers"]),
        "By spread of speeds, long blocks, free coordinator": scale_table(data["speeds"], ["speed_spread", "workers"]),
        "By rate of failures, long blocks": failure_table(data["failures"]),
    }


def _draw(report: Report, data: dict[str, Any]) -> None:
    if not pictures.is_possible():
        say("no picture: matplotlib is not installed (pip install '.[bench]')")
        return
    for ending, draw in (
        ("-validation.png", lambda path: scale_pictures.draw_validation(data["validation"], path)),
        ("-by_workers.png", lambda path: scale_pictures.draw_by_workers(data["workers"], path)),
        ("-troubles.png", lambda path: scale_pictures.draw_troubles(data["speeds"], data["failures"], path)),
    ):
        draw(report.path(ending))
        report.pictures.append(report.path(ending))


def _parser() -> argparse.ArgumentParser:
    use_checkout()
    from gensim_tfw2v.planning.profiles import STORED

    parser = argparse.ArgumentParser(
        description="Simulate the trainings of committed results and compare the two, then trainings on many workers, "
        "with large vocabularies, unequal workers and failures. Needs SimPy: pip install '.[simulate]'."
    )
    add, count, number = parser.add_argument, number_from(1), number_from(0.0, float)
    add_output_arguments(parser, "scale")
    add("--results", type=Path, default=RESULTS, metavar="DIR", help="measured results (default: benchmarks/results)")
    add("--workers", nargs="+", type=count, default=[32, 100, 320, 1000, 10_000], metavar="N",
        help="default: 32 100 320 1000 10000")  # fmt: skip
    add("--words", type=count, default=10**12, metavar="N", help="of the corpus (default 1000000000000)")
    add("--vocabulary", type=count, default=10**7, metavar="N", help="default: 10000000")
    add("--vocabularies", nargs="+", type=count, default=[10**6, 10**7, 10**8, 10**9], metavar="N",
        help="default: 1000000 10000000 100000000 1000000000")  # fmt: skip
    add("--many-workers", type=count, default=320, metavar="N",
        help="workers with these vocabularies and spreads (default 320)")  # fmt: skip
    add("--vector-size", type=count, default=100, metavar="N", help="default: 100")
    add("--mode", choices=list(MODES), default="sg-neg", help="default: sg-neg")
    add("--cores", type=count, default=8, metavar="N", help="of a machine (default 8)")
    add("--gigabits", type=number_from(0.001, float), default=10.0, metavar="X",
        help="a second that a machine's link carries each way (default 10)")  # fmt: skip
    add("--price", type=number, default=0.4, metavar="X", help="of a machine for an hour (default 0.4)")
    add("--memory", type=number, default=64.0, metavar="GB", help="of a machine (default 64)")
    add("--workers-a-server", type=count, default=4, metavar="N", help="default: 4")
    add("--long-words", type=count, default=1_000_000, metavar="N", help="of a long block (default 1000000)")
    add("--spreads", nargs="+", type=number, default=[0.0, 0.1, 0.2, 0.4], metavar="X",
        help="standard deviations of the logarithms of the workers' speeds (default: 0 0.1 0.2 0.4)")  # fmt: skip
    add("--days", nargs="+", type=number_from(0.001, float), default=[1.0, 10.0, 100.0], metavar="X",
        help="mean days between the failures of a machine (default: 1 10 100)")  # fmt: skip
    add("--checkpoint-every", type=number_from(1.0, float), default=600.0, metavar="SECONDS", help="default: 600")
    add("--restart-seconds", type=number, default=120.0, metavar="SECONDS",
        help="until a lost task is started again (default 120)")  # fmt: skip
    add("--profile", choices=list(STORED), default="amx", help="costs of the machines (default: amx)")
    add("--seed", type=int, default=1, metavar="N", help="default: 1")
    return parser


if __name__ == "__main__":
    raise SystemExit(status_of(main))
