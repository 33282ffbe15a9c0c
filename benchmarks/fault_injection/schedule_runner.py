"""Runs schedules beside undisturbed trainings, one after the other on one cluster, and checks what they leave."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from machines.networks import Loopback, Network
from machines.processes import COORDINATOR, NodeError, processes_of
from measuring.planted import write_planted_corpus
from report.reports import say

from fault_injection.disks import small_disk
from fault_injection.invariants import left_files, problems
from fault_injection.play import Play, Played
from fault_injection.progress_file import ProgressFile
from fault_injection.scheduled_cluster import COORDINATORS, OPERATOR, ScheduledCluster, machines_of, write_request
from fault_injection.scheduled_training import PROBE
from fault_injection.schedules import DESIGNS, FULL, GUEST, JOIN, LEAVE, Schedule

CORPUS_WORDS = 180_000
_CORPUS_SEED = 1
_MODEL = {"vector_size": 64, "min_count": 1, "sample": 0, "sg": 1, "alpha": 0.05, "workers": 2}
_CHECKPOINTS = 8  # of an undisturbed training
_USUAL_TIMEOUT, _MOST_TIMEOUT = 120.0, 30.0
_TIMEOUT_OF_A_FIRST_CALL = 2.0  # times what the first call of the undisturbed training took
_BOUND = 8.0  # times the undisturbed training, and for each event:
_SECONDS_OF_AN_EVENT = 25.0  # besides its length: a limit of the package, and a start
_LEAST_BOUND = 60.0
_READY_SECONDS = 120.0  # that tasks and machines may take until they are as before
_ENDING_SECONDS = 10.0  # that a process may take to notice that the one which started it has ended


@dataclass(frozen=True)
class Undisturbed:
    """What a training comes to that nothing disturbs."""

    seconds: float
    first_call: float  # seconds until the first words were trained
    result: dict[str, Any]


class ScheduleRunner:
    """Runs schedules.

    Parameters
    ----------
    least_timeout : float
        The least `cluster_timeout`. On a busy machine it is twice what the first call of a worker takes.
    has_network : bool
        Whether machines have a network of their own.
    logs : Path, optional
        Folder to which the logs of schedules with violations are copied.
    """

    def __init__(self, folder: Path, least_timeout: float, has_network: bool, logs: Path | None) -> None:
        self._folder, self._least_timeout, self._has_network, self._logs = folder, least_timeout, has_network, logs
        self._corpus = folder / "corpus.txt"
        self._words = write_planted_corpus(CORPUS_WORDS, _CORPUS_SEED, self._corpus)
        self._undisturbed: dict[tuple[str, int, int], Undisturbed] = {}
        self._cluster: ScheduledCluster | None = None
        self._tasks: tuple[int, int] | None = None
        self._running = ExitStack()

    def run(self, schedule: Schedule) -> dict[str, Any]:
        """Return what has happened in a schedule, with its "violations"."""
        base = self._undisturbed_of(schedule)
        timeout = min(_MOST_TIMEOUT, max(self._least_timeout, _TIMEOUT_OF_A_FIRST_CALL * base.first_call))
        lengths = sum(event.length * timeout + _SECONDS_OF_AN_EVENT for event in schedule.events)
        bound = _LEAST_BOUND + _BOUND * base.seconds + lengths
        record = self._play(schedule, timeout, bound, base)
        if record["violations"]:
            self._keep_logs(schedule)
            self.close()  # what it has left must not disturb the next one
        return record

    def _undisturbed_of(self, schedule: Schedule) -> Undisturbed:
        if schedule.kind not in self._undisturbed:
            plain = schedule.undisturbed()
            found = self._play(plain, _USUAL_TIMEOUT, 2 * _USUAL_TIMEOUT, None)
            if found["violations"]:
                self._keep_logs(plain)
                raise NodeError(f"{plain.name}: " + "; ".join(found["violations"]))
            base = Undisturbed(found["seconds"], found["first_call"], found["results"][0])
            self._undisturbed[schedule.kind] = base
            say(f"{plain.name}: {base.seconds:.0f} s, first call {base.first_call:.1f} s, "
                f"score {base.result['score']:.3f}")  # fmt: skip
        return self._undisturbed[schedule.kind]

    def _play(self, schedule: Schedule, timeout: float, bound: float, base: Undisturbed | None) -> dict[str, Any]:
        cluster = self._cluster_for(schedule)
        before, cluster.sessions = cluster.kept() if base else {}, set()  # a first training starts many threads
        with self._place_for(schedule) as place:
            request = self._request(schedule, timeout, place)
            progress = ProgressFile(Path(request["progress"]), self._words * schedule.epochs)
            file = write_request(place.parent / "request.json", request)
            played = Play(cluster, schedule, file, place, progress, timeout, bound).run()
            lines = list(progress.lines)
            results = _results(place.parent)
            left = self._left(cluster, place.parent)
            probe = {} if played.is_hung or base is None else self._probe(cluster, file, place.parent)
            found = {
                "results": results, "undisturbed": base.result if base else (results or [{}])[0], "probe": probe,
                "corpus_words": self._words, "before": before, "left": left, "tasks": len(cluster.tasks),
                "after": {} if played.is_hung else cluster.kept(),
            }  # fmt: skip
            violations = _hung(played) if played.is_hung else problems(schedule, played, lines, found)
        return {
            "violations": violations,
            "happened": played.happened,
            "errors": played.errors,
            "seconds": played.seconds,
            "undisturbed_seconds": base and base.seconds,
            "undisturbed_score": base and base.result["score"],
            "cluster_timeout": timeout,
            "first_call": _first_call(lines),
            "results": results,
            "kept": {"before": before, "after": found["after"]},
        }

    # -- a schedule's surroundings -------------------------------------------------------------------------------------

    @contextmanager
    def _place_for(self, schedule: Schedule) -> Iterator[Path]:
        """Have a new folder for the checkpoints of a schedule, which can be filled if it is to be."""
        folder = self._folder / "schedule"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "temporary").mkdir(parents=True)
        place = folder / "storage"
        if schedule.has(FULL):
            with small_disk(place):
                yield place
        else:
            place.mkdir()
            yield place

    def _request(self, schedule: Schedule, timeout: float, place: Path) -> dict[str, Any]:
        assert self._cluster is not None
        of_design = DESIGNS[schedule.design]
        fixed = {**_MODEL, **of_design, "seed": schedule.seed, "distribution": schedule.design}
        may_change = {
            "checkpoint_dir": str(place / "checkpoints"),
            "checkpoint_every": f"{self._words * schedule.epochs // _CHECKPOINTS} words",
            "cluster_timeout": timeout,
            "allow_network": True,
            "progress": False,
            **({"vectors_on_servers": True} if schedule.on_servers else {}),
            **({"max_workers": schedule.workers + 1} if schedule.has(JOIN, LEAVE) else {}),
        }
        return {
            "fixed": fixed, "may_change": may_change, "cluster": self._cluster.addresses, "epochs": schedule.epochs,
            "corpus": str(self._corpus), "folder": str(place.parent), "progress": str(place.parent / "progress.jsonl"),
            "temporary": str(place.parent / "temporary"),
        }  # fmt: skip

    def _cluster_for(self, schedule: Schedule) -> ScheduledCluster:
        """Return the running cluster, or a new one if that has other numbers of tasks."""
        tasks = schedule.servers, schedule.workers
        if self._cluster is None or self._tasks != tasks:
            self.close()
            names = machines_of(*tasks)
            network = Network(names, None) if self._has_network else Loopback(names)
            self._running.enter_context(closing(network))
            self._cluster, self._tasks = ScheduledCluster(network, *tasks, self._folder), tasks
            self._running.callback(self._cluster.stop)
            self._cluster.start()
        return self._cluster

    def close(self) -> None:
        """End the cluster."""
        self._cluster = None
        self._running.close()

    # -- after a schedule ----------------------------------------------------------------------------------------------

    def _left(self, cluster: ScheduledCluster, folder: Path) -> list[str]:
        """Return what is left of coordinators and of a worker that has joined."""
        _wait(lambda: not any(cluster.runs(name) for name in (*COORDINATORS, GUEST, OPERATOR)), _READY_SECONDS)
        _wait(lambda: not processes_of(cluster.sessions), _ENDING_SECONDS)
        processes = [f"process {process}" for process in processes_of(cluster.sessions)]
        return processes + [f"the temporary file {name}" for name in left_files(folder / "temporary", ())]

    def _probe(self, cluster: ScheduledCluster, request: Path, folder: Path) -> dict[str, Any]:
        """Return what a coordinator says that resumes the training for one more epoch, or its "error"."""
        for name in cluster.tasks:
            if not cluster.runs(name):
                cluster.begin_task(name, is_again=True)
        for name in cluster.tasks:
            if not _wait(lambda name=name: cluster.is_ready(name), _READY_SECONDS):  # type: ignore[misc]
                return {"error": f"{name} does not start again"}
        cluster.begin_coordinator(COORDINATOR, request, PROBE, is_again=True)
        has_ended = _wait(lambda: not cluster.runs(COORDINATOR), 2 * _USUAL_TIMEOUT)
        result = folder / f"result-{PROBE}.json"
        if has_ended and result.exists():
            found: dict[str, Any] = json.loads(result.read_text())
            return found
        last = cluster.log(COORDINATOR).read_text(errors="replace").strip().splitlines()[-1]
        return {"error": ("" if has_ended else "it hangs; ") + last}

    def _keep_logs(self, schedule: Schedule) -> None:
        """Copy what the processes of a schedule have printed."""
        if self._logs is not None:
            folder = self._logs / schedule.name
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            for path in (*self._folder.glob("*.log"), *(self._folder / "schedule").glob("*.json*")):
                shutil.copy(path, folder)
            say(f"{schedule.name}: logs are in {folder}")


def _wait(condition: Callable[[], bool], seconds: float) -> bool:
    """Return whether a condition comes to hold in so many seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _results(folder: Path) -> list[dict[str, Any]]:
    """Return the results of the coordinators that have trained to the end."""
    paths = [folder / f"result-{name}.json" for name in COORDINATORS]
    return [json.loads(path.read_text()) for path in paths if path.exists()]


def _first_call(lines: Sequence[Mapping[str, Any]]) -> float:
    """Return how long the first call took until words were trained, 0 if none were."""
    began = next((line["at"] for line in lines if line["stage"] == "call"), 0.0)
    ended = next((line["at"] for line in lines if line.get("words")), began)
    return float(ended - began)


def _hung(played: Played) -> list[str]:
    return [*played.violations, *(f"{error['type']}: {error['message']}" for error in played.errors)]
