"""Committed results of trainings on emulated machines → what each came to, and the scenario of its simulation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gensim_tfw2v.arguments.units import bits_a_second
from gensim_tfw2v.planning.frequencies import WordFrequencies
from gensim_tfw2v.planning.workload import Workload
from simulation.costs import Costs
from simulation.scenario import DESIGNS, DOWNPOUR, Scenario

WORKER, SERVER, COORDINATOR = "worker", "server", "coordinator"
_JOBS = {WORKER: "worker", SERVER: "ps", COORDINATOR: "coordinator"}


@dataclass(frozen=True)
class Cell:
    """A training that was measured."""

    file: str  # name of the results
    design: str
    mode: str
    workers: int
    seconds: float
    bytes_a_word: float  # as training_report counts them
    staleness_blocks: float
    block_words: float
    exchanges: int  # of shared rows in a block
    score: float  # mean of similarities and analogies, percent
    processor_seconds: Mapping[str, float]  # of all tasks of a kind
    workload: Workload
    settings: Mapping[str, Any]
    host_cores: int

    @property
    def name(self) -> tuple[str, str, str, int]:
        """What tells it from other cells."""
        return self.file, self.design, self.mode, self.workers

    def scenario(self, costs: Costs) -> Scenario:
        """Return the scenario of this training."""
        settings = self.settings
        return Scenario(
            workload=self.workload,
            design=self.design,
            workers=self.workers,
            servers=settings["ps"],
            costs=costs,
            worker_cores=settings["cpu"],
            # A task without a quota goes first, and never waits for another's cores.
            server_cores=settings["ps_cpu"] or 1.0,
            coordinator_cores=settings["coordinator_cpu"] or 1.0,
            host_cores=self.host_cores,
            bytes_a_second=bits_a_second(settings["rate"]) / 8,
            batch_words=round(self.block_words) if self.design == DOWNPOUR else settings.get("batch_words"),
            exchanges=self.exchanges,
        )


def cells_of(folder: Path, file: str) -> Iterator[Cell]:
    """Yield the trainings in a result of `designs.py` or `nodes.py` that can be simulated."""
    found = json.loads((folder / f"{file}.json").read_text(encoding="utf8"))
    settings = found["settings"]
    for run in found["runs"]:
        design = run.get("name") or settings.get("distribution") or DOWNPOUR
        report = run.get("report")
        if design not in DESIGNS or not report or run.get("worker_cores", 1) > 1:
            continue
        mode = run.get("mode") or settings["mode"]
        words = run["raw_words"]
        workload = Workload(
            words=words,
            frequencies=WordFrequencies.of_law(run["vocabulary"], words, settings["min_count"]),
            mode=mode,
            vector_size=settings["vector_size"],
            sample=settings["sample"],
            epochs=settings["epochs"],
        )
        yield Cell(
            file,
            design,
            mode,
            run["workers"],
            run["train_seconds"],
            report["bytes_per_word"],
            report.get("staleness", {}).get("mean", 0.0),
            report["raw_words"] / report["blocks"],
            _exchanges(report),
            run["scores"]["mean"],
            _processor_seconds(run),
            workload,
            settings,
            found["machine"]["cores"],
        )


def _exchanges(report: Mapping[str, Any]) -> int:
    """Return how often a block exchanged shared rows: a server gets two messages for each block, and one for that."""
    server = report.get("tasks", {}).get("ps 0")
    return 0 if not server or not server["blocks"] else round(server["messages"] / server["blocks"]) - 2


def _processor_seconds(run: Mapping[str, Any]) -> dict[str, float]:
    seconds = run["cpu_seconds"]
    return {kind: sum(value for name, value in seconds.items() if name.startswith(job)) for kind, job in _JOBS.items()}
