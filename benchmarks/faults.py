"""Kills, stops and cuts off tasks and coordinators in the midst of training: `python benchmarks/faults.py --help`."""

from __future__ import annotations

import argparse
import fnmatch
import random
import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fault_injection.cells import KILL, LINK, NONE, STOP, Cell, all_cells, errors_of, table_of
from fault_injection.cluster import FaultCluster, machines
from machines import networks
from machines.networks import Loopback, Network, NetworkError
from machines.processes import NodeError
from measuring.corpora import cut_corpus
from measuring.jobs import MODES, add_corpus_argument, add_model_arguments, job_from, number_from
from measuring.systems import count_words
from report.reports import Report, add_output_arguments, earlier_runs, say, start_report
from report.stopping import status_of

_SETTINGS = ("mode", "vector_size", "epochs", "words", "checkpoint_every", "pause", "stop_seconds", "link_seconds",
             "window", "negative", "min_count", "sample", "alpha")  # fmt: skip
_MOMENTS = (0.25, 0.75)  # of the training, between which faults happen
_MOST_DELAY = 0.5  # seconds after that
_NOTES = (
    "kill: SIGKILL, and the process is started again after `pause` seconds, the coordinator too, which then resumes "
    "from its newest checkpoint. stop: SIGSTOP for `stop_seconds`. link: the cable is pulled for `link_seconds`.",
    "The fault comes at a moment that follows from the cell's name, between a quarter and three quarters of training.",
    "train s: from the beginning of training to its end, with all pauses; median (lowest to highest) of several runs.",
    "words again: those that were trained and lost, and trained again; in intervals between checkpoints, the most of "
    "the runs. A checkpoint takes some time to write, in which further words are trained.",
    "score: percent. Of undisturbed: of the mean of the undisturbed runs with as many tasks. Of its seed: of the "
    "undisturbed run with as many tasks and the same seed, mean of several runs.",
    "tables left: models that have tables on the servers after training; 0 if nothing is left.",
)


def main(argv: list[str] | None = None) -> int:
    """Run the cells that have no result yet; the exit status is 1 if a training ended in an error."""
    arguments = _parser().parse_args(argv)
    no_network = "--plain was given" if arguments.plain else networks.why_not(None)
    table = FaultTable(arguments)
    cells = [cell for cell in all_cells(arguments.seeds) if _is_wanted(cell, arguments.cells)]
    if no_network is not None:
        left_out = [cell for cell in cells if cell.fault == LINK]
        cells = [cell for cell in cells if cell.fault != LINK]
        say(f"the {len(left_out)} cells with a link that is down are left out: {no_network}")
    with ExitStack() as stack:
        if no_network is None:
            stack.enter_context(networks.alone())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tfw2v-faults-")))
        corpus = folder / "corpus.txt"
        cut_corpus(Path(arguments.corpus), arguments.words, corpus)
        runner = stack.enter_context(closing(FaultRunner(arguments, corpus, folder, no_network is None)))
        for cell in cells:
            if not table.has(cell):
                table.keep(cell, runner.run(cell))
    print(table.save())
    return 1 if any("error" in run for run in table.runs) else 0


def _is_wanted(cell: Cell, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(cell.name, pattern) for pattern in patterns)


class FaultRunner:
    """Runs cells, on one cluster as long as they have as many tasks and end without an error."""

    def __init__(self, arguments: argparse.Namespace, corpus: Path, folder: Path, has_network: bool) -> None:
        self._arguments, self._corpus, self._folder, self._has_network = arguments, corpus, folder, has_network
        self._words = count_words(str(corpus)) * arguments.epochs
        self._tasks: tuple[int, int] | None = None
        self._cluster: FaultCluster | None = None
        self._running = ExitStack()

    def run(self, cell: Cell) -> dict[str, Any]:
        """Return the results of a training that suffers a fault, or its "error"."""
        began, checkpoints = time.monotonic(), self._folder / "checkpoints"
        shutil.rmtree(checkpoints, ignore_errors=True)
        try:
            cluster = self._cluster_for(cell)
            record = self._train(cluster, cell, checkpoints)
            if record["raw_words"] != self._words:
                raise NodeError(f"{record['raw_words']:,} words were trained, and there are {self._words:,}")
        except (NodeError, NetworkError, OSError) as error:
            record = {"error": str(error)}
            self._keep_log(cell)
            self.close()
        return record | {"seconds_in_all": time.monotonic() - began}

    def _train(self, cluster: FaultCluster, cell: Cell, checkpoints: Path) -> dict[str, Any]:
        asked, chance = self._arguments, random.Random(cell.name)
        job = job_from(asked, system="tfw2v", corpus=str(self._corpus), workers=2, seed=cell.seed)
        settings = {"checkpoint_dir": str(checkpoints), "checkpoint_every": f"{asked.checkpoint_every} words"}
        deadline = time.monotonic() + asked.patience
        cluster.begin_training({"job": asdict(job), "settings": settings, "on_servers": cell.on_servers})
        moment, victims = chance.uniform(*_MOMENTS), cluster.victims(cell, chance.randrange(100)) if cell.victim else []
        if cell.fault != NONE:
            cluster.wait_for_words(moment * self._words, deadline)
            time.sleep(chance.uniform(0.0, _MOST_DELAY))  # a checkpoint begins with the last block of an interval
            cluster.harm(cell.fault, victims)
            time.sleep({KILL: asked.pause, STOP: asked.stop_seconds, LINK: asked.link_seconds}[cell.fault])
            cluster.mend(cell.fault, victims)
        return {**cluster.wait_for_end(deadline), "moment": moment, "victims": victims}

    def _cluster_for(self, cell: Cell) -> FaultCluster:
        """Return the running cluster, or a new one if that has other numbers of tasks."""
        tasks = cell.servers, cell.workers
        if self._cluster is None or self._tasks != tasks:
            self.close()
            names = machines(*tasks)
            network = Network(names, None) if self._has_network else Loopback(names)
            self._running.enter_context(closing(network))
            self._cluster, self._tasks = FaultCluster(network, *tasks, self._folder), tasks
            self._running.callback(self._cluster.stop)
            self._cluster.start()
        return self._cluster

    def _keep_log(self, cell: Cell) -> None:
        """Keep what the coordinator of a failed training printed beside the results."""
        if self._cluster is not None:
            self._arguments.output.mkdir(parents=True, exist_ok=True)
            path = self._arguments.output / f"{self._arguments.name}-{cell.name}.log"
            path.write_text(self._cluster.end_training())
            say(f"{cell.name}: the coordinator's log is {path}")

    def close(self) -> None:
        """End the cluster."""
        self._cluster = None
        self._running.close()


class FaultTable:
    """The results, those of earlier calls too; saved after every run."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.report: Report = start_report("Trainings that suffer faults", arguments, _SETTINGS, _NOTES)
        self._interval = arguments.checkpoint_every
        self.runs = earlier_runs(self.report, "faults")

    def has(self, cell: Cell) -> bool:
        """Return whether a cell has a result."""
        return any(run["name"] == cell.name for run in self.runs)

    def keep(self, cell: Cell, record: dict[str, Any]) -> None:
        """Add a run, print its results, and save."""
        self.runs.append({**asdict(cell), "kind": cell.kind, "name": cell.name, **record})
        what = record.get("error") or (
            f"{record['seconds']:.0f} s, {record['recoveries']} recoveries, {record['words_again']:,.0f} words again, "
            f"score {record['scores']['mean']}, {record['tables_left']} tables left"
        )
        say(f"{cell.name}: {what}; {record['seconds_in_all']:.0f} s in all")
        self.save()

    def save(self) -> str:
        """Write JSON and Markdown, and return the Markdown."""
        failed = errors_of(self.runs)
        tables = {"Results": table_of(self.runs, self._interval)}
        return self.report.save(tables | ({"Errors": failed} if len(failed) > 1 else {}), {"runs": self.runs})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Kill, stop and cut off tasks and the coordinator of trainings with checkpoints, and see how they "
        "end. A cell that has a result in the results file is not run again. Links go down only as root on Linux."
    )
    add, count, seconds = parser.add_argument, number_from(1), number_from(0, float)
    add_corpus_argument(parser)
    add_output_arguments(parser, "faults")
    add("--cells", nargs="+", default=["*"], metavar="PATTERN", help="such as 'kill-*-1+2-*' (default: all)")
    add("--seeds", type=count, default=5, metavar="N", help="undisturbed runs, and those of repeated cells (default 5)")
    add("--words", type=count, default=4_000_000, metavar="N", help="of the corpus, from its start (default 4000000)")
    add("--mode", choices=list(MODES), default="sg-neg", help="default: sg-neg")
    add("--vector-size", type=count, default=100, metavar="N", help="default: 100")
    add("--epochs", type=count, default=3, metavar="N", help="passes over the corpus (default 3)")
    add("--checkpoint-every", type=count, default=2_000_000, metavar="N", help="words (default 2000000)")
    add("--pause", type=seconds, default=3.0, metavar="S", help="until a killed process is started again (default 3)")
    add("--stop-seconds", type=seconds, default=60.0, metavar="S", help="that a process is stopped (default 60)")
    add("--link-seconds", type=seconds, default=30.0, metavar="S", help="that a link is down (default 30)")
    add("--patience", type=seconds, default=600.0, metavar="S", help="after which a training hangs (default 600)")
    add("--plain", action="store_true", help="plain processes on loopback, as without root")
    add_model_arguments(parser)
    return parser


if __name__ == "__main__":
    raise SystemExit(status_of(main))
