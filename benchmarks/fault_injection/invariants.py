"""What must hold after a schedule, however its tasks were disturbed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from measuring.checkout import ROOT

from fault_injection.play import Played, Trouble
from fault_injection.schedules import FULL, SECOND, TAKE_OVER, Schedule

LEAST_SCORE = 0.9  # of that of the undisturbed training
MOST_LOSS = 1.1
_LEAST_SCORE_OF_A_PART = 0.5  # where sub-models are lost
_LOOK_BACK_SECONDS = 120.0  # in which what an error complains of must have begun, or still have lasted
_NEW_THREADS, _NEW_DESCRIPTORS = 6, 4  # of a task, for each time that somebody connects to it
_THREADS_NOW_AND_THEN = 2  # of TensorFlow's network library
_KEPT_CHECKPOINTS = 3
_PAGE = ROOT / "docs" / "reference" / "errors.md"


def problems(
    schedule: Schedule, played: Played, lines: Sequence[Mapping[str, Any]], found: Mapping[str, Any]
) -> list[str]:
    """Return what does not hold of a schedule that has been played to its end.

    Parameters
    ----------
    lines : sequence of mappings
        The progress that coordinators have written.
    found : mapping
        "results" of the coordinators, "undisturbed" results, what the "probe" says, the "corpus_words", what tasks kept
        "before" and "after", the number of "tasks", names of what is "left" beside checkpoints.
    """
    return [
        *played.violations,
        *(problem for error in played.errors for problem in problems_of_error(error, schedule, played.troubles)),
        *(problem for result in found["results"] for problem in _of_vectors(schedule, result, found["undisturbed"])),
        *_of_words(schedule, lines, found),
        *_of_checkpoint(found["probe"], played.troubles),
        *_of_owners(lines),
        *_of_leftovers(found, _connections(lines, played)),
    ]


def problems_of_error(error: Mapping[str, Any], schedule: Schedule, troubles: Sequence[Trouble]) -> list[str]:
    """Return what is wrong with the error with which a coordinator has ended."""
    kind, message = error["type"], error["message"]
    shown = f"{kind}: {message}"
    recent = [one for one in troubles if one.begin <= error["at"] <= one.end + _LOOK_BACK_SECONDS]
    if not _is_on_page(message):
        return [f"the page of errors does not name {shown}"]
    if kind == "FolderInUseError":
        return [] if schedule.has(SECOND, TAKE_OVER) else [f"nobody else used the folder: {shown}"]
    if kind == "OSError":
        return [] if any(one.action == FULL for one in recent) else [f"the disk was not full: {shown}"]
    if kind != "ClusterError":
        return [f"no page allows {shown}"]
    return [] if _is_allowed(message, schedule, recent) else [f"what it names was not disturbed for long: {shown}"]


def _is_on_page(message: str) -> bool:
    quoted = re.findall(r"^\| (`.*?`) \|", _PAGE.read_text(encoding="utf8"), re.MULTILINE)
    patterns = (part for row in quoted for part in re.findall(r"`(.+?)`", row))
    return any(
        re.search(".*".join(map(re.escape, pattern.split("…"))), message, re.DOTALL)
        for pattern in patterns
        if len(pattern.replace("…", "").strip()) > len("x must be")
    )


def _is_allowed(message: str, schedule: Schedule, recent: Iterable[Trouble]) -> bool:
    """Return whether the pages have training end with this message after these disturbances."""
    disturbed = {one.machine for one in recent if one.action != FULL}
    if "coordinator" in disturbed:  # its link, or it did not run
        return True
    named = {f"{job}{task}" for job, task in re.findall(r"(ps|worker) (\d+) at", message)}
    if "no worker has finished a block" in message:
        return disturbed >= {f"worker{task}" for task in range(schedule.workers)} or bool(named & disturbed)
    return bool(named & disturbed) if named else bool(disturbed)


def _of_vectors(schedule: Schedule, result: Mapping[str, Any], undisturbed: Mapping[str, Any]) -> list[str]:
    found = []
    if not result["finite"]:
        found.append("vectors are not finite")
    is_part = schedule.design == "partition" and result["lost_submodels"] != 0  # None: nothing was left to train
    least = _LEAST_SCORE_OF_A_PART if is_part else LEAST_SCORE
    if schedule.design != "lbfgs" and not result["score"] >= least * undisturbed["score"]:
        found.append(f"the score is {result['score']:.3f}, undisturbed {undisturbed['score']:.3f}")
    loss, usual = _loss(schedule, result["losses"]), _loss(schedule, undisturbed["losses"])
    if not is_part and not loss <= MOST_LOSS * usual:
        found.append(f"the loss is {loss:.4f}, undisturbed {usual:.4f}")
    return found


def _loss(schedule: Schedule, losses: Sequence[float | None]) -> float:
    """Return the loss of the epoch that both trainings have; of L-BFGS the first, as its history may be lost."""
    known = [loss for loss in losses if loss is not None]
    if not known:
        return math.nan
    return known[0] if schedule.design == "lbfgs" else known[min(len(known), schedule.epochs) - 1]


def _of_words(schedule: Schedule, lines: Iterable[Mapping[str, Any]], found: Mapping[str, Any]) -> list[str]:
    words = found["corpus_words"]
    most = max((line["words"] for line in lines if "words" in line), default=0)
    wrong = [f"{most:,} words were counted of {words * schedule.epochs:,}"] if most > words * schedule.epochs else []
    epochs, has_resumed = found["probe"].get("epoch_words"), found["probe"].get("has_resumed")
    if epochs is not None and epochs != [words] * (schedule.epochs + 1 if has_resumed else 1):
        wrong.append(f"epochs of {words:,} words have trained {epochs}")
    return wrong


def _of_checkpoint(probe: Mapping[str, Any], troubles: Iterable[Trouble]) -> list[str]:
    """Return whether there is no checkpoint to resume; a disk that is full until training ends has none."""
    is_missing = probe.get("has_resumed") is False and not any(one.action == FULL for one in troubles)
    return ["there is no checkpoint"] if is_missing else []


def _of_owners(lines: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return which checkpoints were written by a process after another one had taken the folder."""
    owner, wrong = None, []
    for line in lines:
        if line["stage"] == "held":
            owner = line["process"]
        elif line["stage"] == "written" and line["process"] != owner:
            wrong.append(f"process {line['process']} wrote a checkpoint when {owner} owned the folder")
    return wrong


def _connections(lines: Iterable[Mapping[str, Any]], played: Played) -> int:
    """Return how often coordinators may have connected to the tasks, the probe included."""
    # A training also connects tasks again that were lost or hung, and workers that join.
    happened = sum(moment is not None for moment in played.happened)
    return 1 + happened + sum(line["stage"] in ("connect", "recovery") for line in lines)


def _of_leftovers(found: Mapping[str, Any], connections: int) -> list[str]:
    probe, wrong = found["probe"], [f"{name} is left" for name in found["left"]]
    if not probe:  # of a training that nothing disturbs
        return wrong
    if "error" in probe:
        return [*wrong, f"the checkpoint does not resume: {probe['error']}"]
    if probe["described"] < found["tasks"]:
        wrong.append(f"{probe['described']} of {found['tasks']} tasks answer")
    wrong += [f"{task} has tables of {len(leases)} trainings" for task, leases in probe["tables"].items()]
    files = [
        name for name in probe["checkpoint_files"] if not re.fullmatch(r"checkpoint-\d{6}|\.lock|notes\.json", name)
    ]
    wrong += [f"the folder of checkpoints has {name}" for name in files]
    if sum(name.startswith("checkpoint-") for name in probe["checkpoint_files"]) > _KEPT_CHECKPOINTS:
        wrong.append(f"more than {_KEPT_CHECKPOINTS} checkpoints are kept")
    for name, after in found["after"].items():
        before = found["before"].get(name)
        if before is None or before["process"] != after["process"]:  # it was started again
            continue
        threads = _NEW_THREADS * connections + _THREADS_NOW_AND_THEN
        limits = {"threads": threads, "descriptors": _NEW_DESCRIPTORS * connections}
        wrong += [
            f"{name} has {after[what]} {what}, and had {before[what]} before"
            for what, most in limits.items()
            if after[what] > before[what] + most
        ]
    return wrong


def left_files(folder: Path, names: Iterable[str]) -> list[str]:
    """Return the files in a folder that are not of these names."""
    return sorted({path.name for path in folder.iterdir()} - set(names))
