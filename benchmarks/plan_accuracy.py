"""Compares plans with trainings that run here: `python benchmarks/plan_accuracy.py --help`."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from machines import networks
from machines.emulated import Machines
from measuring.checkout import ROOT, use_checkout
from measuring.jobs import MODES, add_corpus_argument, add_model_arguments, job_from, number_from, usable_cores
from measuring.runner import RunFailedError, run
from report.reports import add_output_arguments, failure_tables, say, start_report
from report.stopping import status_of


class Cluster(NamedTuple):
    """The tasks of a configuration, each on an emulated machine of its own or all on this one."""

    servers: int
    workers: int
    is_emulated: bool
    worker_cores: int = 1  # that train a block side by side


CLUSTERS = {
    "2 servers, 2 workers": Cluster(2, 2, is_emulated=False),
    "1 server, 1 worker of 2 cores": Cluster(1, 1, is_emulated=False, worker_cores=2),
    "1 server, 8 emulated workers": Cluster(1, 8, is_emulated=True),
}
CONFIGURATIONS = ("one process", *CLUSTERS)
_EMULATED_CORES, _EMULATED_RATE, _SERVING_CORES = 0.1, "1gbit", 1.0
_SETTINGS = ("configurations", "profile", "mode", "vector_size", "epochs", "window", "negative", "min_count", "sample",
             "alpha")  # fmt: skip
_NOTES = (
    "seconds: of `train()`. In one process they include importing TensorFlow. Tasks of clusters train a few blocks "
    "before.",
    "memory: peak resident memory of the largest task of its kind. The coordinator's is left out, because it keeps the "
    "sentences of the blocks that tasks train before.",
    "bytes a word: as training_report counts them.",
    "costs: the result's JSON has the profile with which trainings were planned.",
    f"emulated workers: each has {_EMULATED_CORES} cores, each machine a link of {_EMULATED_RATE}. Tasks of other "
    "clusters are processes that share all cores of this machine.",
)


def main(argv: list[str] | None = None) -> int:
    """Calibrate, plan and train; the exit status is 1 if a training failed."""
    arguments = _parser().parse_args(argv)
    report = start_report("Plans beside trainings", arguments, _SETTINGS, _NOTES)
    use_checkout()
    profile = _profile(arguments.profile)
    runs = []
    for configuration in arguments.configurations:
        plan = plan_for(configuration, arguments, profile)
        record = {
            "configuration": configuration,
            "planned": figures_of_plan(plan),
            **_measure(configuration, arguments),
        }
        say(f"{configuration}: {record.get('error') or record['measured']}; planned {record['planned']}")
        runs.append(record)
        tables = {"Results": table_of([each for each in runs if "error" not in each])}
        text = report.save(tables | failure_tables(runs, ("configuration",)), {"costs": asdict(profile), "runs": runs})
    print(text)
    return 1 if any("error" in each for each in runs) else 0


def _profile(name: str | None) -> Any:
    """Return the profile of this name; without one, measure this machine in another process.

    A process's peak memory counts for those that it starts.
    """
    from gensim_tfw2v.planning.profiles import CALIBRATED, profile_named

    if name is not None:
        return profile_named(name)
    with tempfile.TemporaryDirectory(prefix="tfw2v-plan-") as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        paths = {"PYTHONPATH": str(ROOT)}
        subprocess.run(
            [sys.executable, "-m", "gensim_tfw2v", "plan", "--calibrate"], env=os.environ | paths, check=True
        )
        return profile_named(CALIBRATED)


def plan_for(configuration: str, arguments: argparse.Namespace, profile: Any) -> Any:
    """Return the plan of a configuration."""
    from gensim_tfw2v.arguments.units import bits_a_second
    from gensim_tfw2v.planning.corpus_sample import estimate_corpus
    from gensim_tfw2v.planning.machines import DOWNPOUR, HERE, Layout, Machine
    from gensim_tfw2v.planning.plan import plan_of
    from gensim_tfw2v.planning.workload import Workload

    corpus = estimate_corpus(arguments.corpus, arguments.min_count)
    settings = {name: getattr(arguments, name) for name in ("mode", "vector_size", "window", "negative", "sample")}
    workload = Workload(words=corpus.words, frequencies=corpus.frequencies, epochs=arguments.epochs, **settings)
    cores, cluster = usable_cores(), CLUSTERS.get(configuration)
    if cluster is None:
        return plan_of(workload, Machine(cores), Layout(HERE), profile)
    layout = Layout(DOWNPOUR, workers=cluster.workers, servers=cluster.servers, host_cores=cores)
    machine = Machine(cluster.worker_cores)
    if cluster.is_emulated:
        machine = Machine(_EMULATED_CORES, bits_a_second=bits_a_second(_EMULATED_RATE), serving_cores=_SERVING_CORES)
    return plan_of(workload, machine, layout, profile)


def figures_of_plan(plan: Any) -> dict[str, float]:
    """Return what is compared of a plan."""
    traffic = plan.traffic
    seconds = plan.training_seconds - (plan.profile.start_seconds if traffic else 0.0)
    memory = {task: size for task, size in plan.memory.items() if task != "coordinator"}
    found = {"seconds": seconds, **{f"MB of the {task}": size / 1e6 for task, size in memory.items()}}
    return found if traffic is None else {**found, "bytes a word": traffic.bytes_a_word}


def figures_of_cluster(record: Mapping[str, Any]) -> dict[str, float]:
    """Return what is compared of a cluster's training."""
    peak = record["peak_bytes"]

    def largest(kind: str) -> float:
        return float(max(size for name, size in peak.items() if name.startswith(kind))) / 1e6

    return {
        "seconds": record["train_seconds"],
        "MB of the worker": largest("worker"),
        "MB of the server": largest("ps"),
        "bytes a word": record["report"]["bytes_per_word"],
    }


def table_of(runs: list[dict[str, Any]]) -> list[list[str]]:
    """Return each figure, measured and planned."""
    table = [["configuration", "figure", "measured", "planned", "planned / measured"]]
    for record in runs:
        measured, planned = record["measured"], record["planned"]
        table += [
            [record["configuration"], name, f"{measured[name]:,.1f}", f"{planned[name]:,.1f}",
             f"{planned[name] / measured[name]:.2f}"]
            for name in planned
        ]  # fmt: skip
    return table


def _measure(configuration: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what a training measures, or its "error"."""
    job = job_from(arguments, system="tfw2v", scores=False, schedule="linear", seed=1, workers=usable_cores())
    cluster = CLUSTERS.get(configuration)
    if cluster is None:
        try:
            record = run(job)
        except RunFailedError as failure:
            return {"error": str(failure)}
        return {"measured": {"seconds": record["train_seconds"], "MB of the process": record["peak_rss_bytes"] / 1e6}}
    machines = argparse.Namespace(
        plain=not cluster.is_emulated,
        rate=_EMULATED_RATE if cluster.is_emulated else None,
        ps=cluster.servers,
        cpu=_EMULATED_CORES if cluster.is_emulated else None,
        ps_cpu=_SERVING_CORES if cluster.is_emulated else None,
        coordinator_cpu=_SERVING_CORES if cluster.is_emulated else None,
        worker_cores=cluster.worker_cores,
    )
    with ExitStack() as stack:
        stack.enter_context(networks.alone())
        emulated = stack.enter_context(closing(Machines(machines)))
        if cluster.is_emulated and not emulated.is_whole:
            return {"error": f"not all of it can be emulated here: {emulated.emulated}"}
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tfw2v-plan-")))
        began = time.monotonic()
        record = emulated.run(replace(job, workers=cluster.workers), folder, emulated.cores(cluster.workers))
        say(f"{configuration}: {time.monotonic() - began:.0f} s in all")
    return record if "error" in record else {"measured": figures_of_cluster(record), "run": record}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Calibrate this machine, plan trainings on it, run them, and print both figures side by side. The "
        "last configuration needs root on Linux."
    )
    add, count = parser.add_argument, number_from(1)
    add_corpus_argument(parser)
    add_output_arguments(parser, "plan_accuracy")
    add("--configurations", nargs="+", choices=CONFIGURATIONS, default=list(CONFIGURATIONS), metavar="NAME",
        help=f"of {', '.join(map(repr, CONFIGURATIONS))} (default: all)")  # fmt: skip
    add("--profile", metavar="NAME", help="plan with a stored profile (default: measure this machine)")
    add("--mode", choices=list(MODES), default="sg-neg", help="default: sg-neg")
    add("--vector-size", type=count, default=100, metavar="N", help="default: 100")
    add("--epochs", type=count, default=5, metavar="N", help="passes over the corpus (default 5)")
    add_model_arguments(parser)
    return parser


if __name__ == "__main__":
    raise SystemExit(status_of(main))
