"""Plays random schedules of faults on real tasks: `python benchmarks/fault_schedules.py --help`."""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from fault_injection import disks
from fault_injection.schedule_runner import CORPUS_WORDS, ScheduleRunner
from fault_injection.schedule_table import by_design, by_event, violations
from fault_injection.schedules import DESIGNS, FULL, LINKS, Schedule, draw
from machines import networks
from machines.networks import NetworkError
from machines.processes import NodeError
from measuring.jobs import number_from
from report.reports import Report, add_output_arguments, earlier_runs, say, start_report
from report.stopping import status_of

_SETTINGS = ("cluster_timeout", "corpus_words")
_NOTES = (
    "A schedule follows from the seed, its number and the designs; when its events happen depends on the machine.",
    "events: those that have happened; others wait for a moment that did not come. errors: with which a coordinator "
    "has ended where the pages allow it; it was started again, and training resumed.",
    "seconds: until all coordinators have ended, with their starts; median (lowest to highest).",
    "least score: of the planted topics, relative to the undisturbed training. L-BFGS has none, because a training "
    "that resumes begins with an empty history.",
)


def main(argv: list[str] | None = None) -> int:
    """Play the schedules that have no result yet; the exit status is 1 if an invariant was violated."""
    arguments = _parser().parse_args(argv)
    arguments.corpus_words = CORPUS_WORDS
    no_network = "--plain was given" if arguments.plain else networks.why_not(None)
    report = start_report("Random schedules of faults", arguments, _SETTINGS, _NOTES)
    runs = earlier_runs(report, "fault_schedules")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tfw2v-schedules-")))
        left_out = _left_out(no_network, folder)
        if no_network is None:
            stack.enter_context(networks.alone())
        has_network = no_network is None
        runner = ScheduleRunner(folder, arguments.cluster_timeout, has_network, arguments.logs)
        stack.enter_context(closing(runner))
        for schedule in _until(arguments.within, _schedules(arguments, left_out, {run["name"] for run in runs})):
            found = _run(runner, schedule)
            runs = [*(run for run in runs if run["name"] != schedule.name), found]  # a replay replaces its result
            _save(report, runs)
            if found["violations"] and arguments.shorten:
                shortest = shortened(schedule, lambda trial: bool(_run(runner, trial)["violations"]))
                say(f"shortest that still fails:\n{json.dumps(shortest.to_json())}")
    print(_save(report, runs))
    return 1 if any(run["violations"] for run in runs) else 0


def _schedules(arguments: argparse.Namespace, left_out: list[str], known: set[str]) -> list[Schedule]:
    """Return the schedules to play, those with as many tasks and the same design one after the other."""
    if arguments.replay is not None:
        if any(schedule.has(*left_out) for schedule in arguments.replay):
            raise SystemExit("fault_schedules: error: a schedule needs what is left out here")
        return list(arguments.replay)
    drawn = [draw(arguments.seed, number, arguments.design, left_out) for number in range(arguments.count)]
    return sorted((one for one in drawn if one.name not in known), key=lambda one: (one.servers, one.kind))


def _schedule_in(path: str) -> Schedule:
    """Return the schedule in a file; argparse shows the error if it has none."""
    try:
        return Schedule.from_json(json.loads(Path(path).read_text()))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise argparse.ArgumentTypeError(f"{path} has no schedule ({type(error).__name__}: {error})") from None


def _until(seconds: float | None, schedules: list[Schedule]) -> Any:
    """Yield schedules until so many seconds are over."""
    began = time.monotonic()
    for schedule in schedules:
        if seconds is not None and time.monotonic() - began > seconds:
            say("the time is over; the same command plays the other schedules")
            return
        yield schedule


def _run(runner: ScheduleRunner, schedule: Schedule) -> dict[str, Any]:
    """Play a schedule, and print what has come of it."""
    began = time.monotonic()
    try:
        record = runner.run(schedule)
    except (NodeError, NetworkError, OSError) as error:
        runner.close()
        raise SystemExit(f"fault_schedules: error: {error}") from error
    whole = {"name": schedule.name, "schedule": schedule.to_json(), **record}
    there = sum(moment is not None for moment in record["happened"])
    say(f"{schedule.name}: {there} of {len(schedule.events)} events, {len(record['errors'])} errors, "
        f"{record['seconds']:.0f} s, with checks {time.monotonic() - began:.0f} s")  # fmt: skip
    if record["violations"]:
        say("VIOLATED: " + "\n  ".join(record["violations"]) + f"\nto replay:\n{json.dumps(schedule.to_json())}")
    return whole


def shortened(schedule: Schedule, fails: Callable[[Schedule], bool]) -> Schedule:
    """Return the schedule without the events that it does not need to fail, tried one after the other."""
    number = 0
    while number < len(schedule.events):
        trial = schedule.without(number)
        if fails(trial):
            schedule = trial
        else:
            number += 1
    return schedule


def _left_out(no_network: str | None, folder: Path) -> list[str]:
    """Return the actions that this machine cannot do, and say why."""
    no_disk = disks.why_not(folder)
    for what, reason in (("links", no_network), ("full disks", no_disk)):
        if reason is not None:
            say(f"{what} are left out: {reason}")
    return [*(LINKS if no_network else ()), *((FULL,) if no_disk else ())]


def _save(report: Report, runs: list[dict[str, Any]]) -> str:
    """Write JSON and Markdown, and return the Markdown."""
    found = violations(runs)
    tables = {"Designs": by_design(runs), "Events": by_event(runs)} if runs else {}
    return report.save(tables | ({"Violations": found} if len(found) > 1 else {}), {"runs": runs})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Play random schedules of faults on trainings of a planted corpus, and check what must hold. A "
        "schedule that has a result in the results file is not played again. Links and full disks need root on Linux."
    )
    add = parser.add_argument
    add_output_arguments(parser, "fault_schedules")
    add("--seed", default="1", metavar="S", help="from which schedules follow: any text (default 1)")
    add("--count", type=number_from(1), default=8, metavar="N", help="schedules (default 8)")
    add("--design", nargs="+", choices=list(DESIGNS), default=list(DESIGNS), metavar="NAME",
        help=f"of {', '.join(DESIGNS)} (default: all)")  # fmt: skip
    add("--replay", nargs="+", type=_schedule_in, metavar="FILE",
        help="play the schedule in this file of JSON, as a violation prints it")  # fmt: skip
    add("--shorten", action="store_true", help="remove events from a schedule that fails as long as it still fails")
    add("--within", type=number_from(1, float), metavar="S", help="begin no further schedule after S seconds")
    add("--cluster-timeout", type=number_from(1, float), default=5.0, metavar="S",
        help="least cluster_timeout; longer where a worker's first call takes long (default 5)")  # fmt: skip
    add("--logs", type=Path, metavar="DIR", help="where the logs of schedules with a violation are kept")
    add("--plain", action="store_true", help="plain processes on loopback, as without root")
    return parser


if __name__ == "__main__":
    raise SystemExit(status_of(main))
