"""Checks and measures training on a GPU beside the CPU and gensim: `python benchmarks/gpu.py --help`."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from measuring.checkout import ROOT
from measuring.corpora import write_zipf_corpus
from measuring.graph_operations import launches_a_batch, launches_of_draws
from measuring.jobs import Job, add_corpus_argument, number_from, usable_cores
from measuring.runner import run_all
from profile_step import Seconds, make_block, planes_in, prepare, profile_graph, read_operations, with_rate
from report.reports import Report, add_output_arguments, failure_tables, row_table, say, start_report
from report.stopping import status_of
from report.summaries import rows_by

_LABELS = ("corpus", "system", "device", "draws", "batch_tokens")
_SETTINGS = ("device", "words", "vocabulary", "epochs", "workers", "small", "seconds")
_LARGE_BATCH = 8192  # tokens: as many as the package trains side by side on the cores of a CPU
_CLUSTER_WORKERS = 2  # which share the GPU
_SUITE = ("test_contract_training.py", "test_contract_loss.py", "test_contract_callbacks.py")
_SUITE_SHARE = 0.35  # of the seconds
_PROFILED = 20  # lines
_NOTES = (
    "words/s: raw words times epochs, divided by the seconds of training, with the import of TensorFlow and the first "
    "graph; a further column is without these two. speed ratio: beside gensim on the same corpus.",
    "tfw2v-cluster: two servers and two workers on this machine; both workers train on the device.",
    "zipf.txt has random words, and no scores. Scores are percentages, as in compare.py.",
    "furthest row: largest difference between input vectors after one block on the device and on the CPU. GPUs round "
    "products to TF32.",
    "draws: where subsampling, windows and negatives are drawn, if not where the package chooses.",
    "launches: operations that a batch, or the draws of a whole block, start on a GPU, counted in the graph.",
)


@dataclass(frozen=True)
class Step:
    """What one block of the device says of its step."""

    facts: dict[str, str]
    by_kernel: Seconds
    tokens: int


class Measurement:
    """The results so far, saved after each part, so that a check that is cut off keeps them."""

    def __init__(self, arguments: argparse.Namespace, report: Report) -> None:
        self.arguments, self.report = arguments, report
        self.ends = time.monotonic() + arguments.seconds
        self.facts: dict[str, str] = {}
        self.runs: list[dict[str, Any]] = []
        self.step: Step | None = None

    def save(self) -> str:
        """Write JSON and Markdown, and return the Markdown."""
        step = self.step
        facts = self.facts | (step.facts if step else {})
        rows = rows_by(_LABELS, self.runs, ("corpus",), {"system": "gensim"})
        tables = {"Check": [["what", "result"], *map(list, facts.items())]}
        tables |= {"Speed and scores": row_table(rows, _LABELS)} if rows else {}
        tables |= failure_tables(self.runs, _LABELS)
        if step:
            tables["Profile of the step"] = _profile_table(step)
        return self.report.save(tables, {"facts": facts, "rows": [asdict(row) for row in rows], "runs": self.runs})

    def keep(self, record: dict[str, Any]) -> None:
        """Add a run, and save."""
        self.runs.append(record)
        self.save()

    def has_failed(self) -> bool:
        """Return whether a run or a test has failed."""
        return any("error" in run for run in self.runs) or self.facts.get("contract suite", "passed") == "FAILED"


def main(argv: list[str] | None = None) -> int:
    """Run all parts; the exit status is 1 if one failed, and 2 if there is no such device."""
    arguments = _parser().parse_args(argv)
    report = start_report("Training on a GPU", arguments, _SETTINGS, _NOTES)
    measurement = Measurement(arguments, report)
    try:
        measurement.facts |= _device_facts(arguments.device)
    except ValueError as error:
        say(f"gpu: error: {error}")
        return 2
    measurement.facts["contract suite"] = run_suite(arguments)
    measurement.save()
    with tempfile.TemporaryDirectory() as folder:
        long = Path(folder) / "zipf.txt"
        say(f"writing {arguments.words:,} words")
        write_zipf_corpus(arguments.vocabulary, arguments.words, 1, long)
        measurement.step = measure_step(arguments, long)
        measurement.save()
        for job in jobs(arguments, str(long)):
            if time.monotonic() > measurement.ends:
                say(f"no time is left for {job.system} on {job.device} with {Path(job.corpus).name}")
            else:
                run_all([job], 1, measurement.keep, say)
    print(measurement.save())
    return 1 if measurement.has_failed() else 0


def jobs(arguments: argparse.Namespace, long: str) -> list[Job]:
    """Return the runs, the most telling ones first: the speed on random words, and then scores of a text."""
    systems: list[dict[str, Any]] = [
        {"system": "tfw2v", "device": arguments.device, "batch_tokens": _LARGE_BATCH},
        {"system": "tfw2v", "device": arguments.device},
        {"system": "tfw2v", "device": arguments.device, "draws": "host"},
        {"system": "tfw2v", "device": "cpu"},
        {"system": "gensim"},
        {"system": "tfw2v-cluster", "device": arguments.device, "workers": _CLUSTER_WORKERS},
    ]
    of_text = {"epochs": arguments.epochs, "scores": True}
    return [
        Job(**{"workers": arguments.workers, **system}, corpus=corpus, **others)
        for corpus, others in ((long, {"epochs": 1, "scores": False}), (arguments.corpus, of_text))
        for system in systems
    ]


def run_suite(arguments: argparse.Namespace) -> str:
    """Run the tests of the contract on the device; return what came of them."""
    say("running the contract suite on the device")
    tests = [str(ROOT / "tests" / "word2vec" / name) for name in _SUITE[: 1 if arguments.small else None]]
    chosen = ["-k", "skipgram-negative"] if arguments.small else []
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--device", arguments.device]
    limit = _SUITE_SHARE * arguments.seconds
    try:
        done = subprocess.run([*command, *chosen, *tests], cwd=ROOT, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return f"not finished after {limit:.0f} s"
    last = (done.stdout.strip().splitlines() or ["nothing was printed"])[-1].strip("= ")
    if done.returncode:
        say(done.stdout[-4000:] + done.stderr[-2000:])
        return "FAILED"
    return last


def measure_step(arguments: argparse.Namespace, corpus: Path) -> Step:
    """Return where tables are, how far a block differs from the CPU's, and the time of each kernel."""
    import numpy as np

    from gensim_tfw2v.steps.arguments import objective_of
    from gensim_tfw2v.steps.kernel import plain_kernel_of_gpu

    say("profiling the step")
    found: dict[str, Any] = {}
    for device in ("cpu", arguments.device):
        job = Job("tfw2v", str(corpus), device=device)
        maker, placement, chunks, tables = prepare(job, 2 if arguments.small else 10)
        block = make_block(maker, chunks[0])
        placement.train_prepared(with_rate(block, job.alpha, measure_every=1))
        placement.read_into(tables)
        found[device] = tables.inputs
    places = {table.handle.device for table in placement._variables.values()}
    is_gpu = any("GPU" in place for place in places)
    blocks = [make_block(maker, chunk) for chunk in chunks]
    seconds, _, by_kernel = profile_graph(placement, blocks, job.alpha, read_kernels if is_gpu else read_operations)
    tokens = sum(block.tokens for block in blocks)
    differences = np.abs(found["cpu"] - found[arguments.device])
    objective, kernel = objective_of(placement._settings), plain_kernel_of_gpu()
    facts = {
        "tables are on": ", ".join(sorted(places)),
        "furthest row": f"{float(differences.max()):.1e}",
        "tokens a second in steps alone": f"{tokens / seconds:,.0f}",
        "launches a batch": f"{launches_a_batch(objective, kernel):,}",
        "launches of a block's draws": f"{launches_of_draws(objective, kernel):,}",
    }
    return Step(facts, by_kernel, tokens)


def read_kernels(folder: Path) -> tuple[Seconds, Seconds]:
    """Return the seconds of each kernel on GPUs, twice, from a folder of the profiler."""
    by_name: Counter[str] = Counter()
    for plane in planes_in(folder, "GPU"):
        for event in (event for line in plane.lines if line.name.startswith("Stream") for event in line.events):
            by_name[plane.event_metadata[event.metadata_id].name] += event.duration_ps / 1e12
    return dict(by_name), dict(by_name)


def _device_facts(name: str) -> dict[str, str]:
    """Return what there is to know of a device; raise ValueError that lists all if it is not there."""
    from gensim_tfw2v.runtime.devices import GPU, find_device
    from gensim_tfw2v.runtime.tensorflow import load_tensorflow

    tf = load_tensorflow()
    device = find_device(name)
    gpus = tf.config.list_physical_devices("GPU")
    details = tf.config.experimental.get_device_details(gpus[device.number]) if device.kind == GPU else {}
    return {"device": device.name} | {key.replace("_", " "): str(value) for key, value in details.items()}


def _profile_table(step: Step) -> list[list[str]]:
    found = sorted(step.by_kernel.items(), key=lambda item: -item[1])
    shown, others = found[:_PROFILED], found[_PROFILED:]
    if others:
        shown.append((f"{len(others)} others", sum(seconds for _, seconds in others)))
    lines = [[name.replace("|", "\\|"), f"{seconds * 1e9 / step.tokens:.1f}"] for name, seconds in shown]
    return [["kernel", "ns/token"], *lines]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Check and measure training on a GPU beside the CPU and gensim.")
    add = parser.add_argument
    add_corpus_argument(parser)
    add_output_arguments(parser, "check-gpu")
    add("--device", default="gpu", metavar="NAME", help="cpu, gpu, or one of several such as gpu:1 (default gpu)")
    add("--words", type=number_from(1000), default=10_000_000, metavar="N", help="random words (default 10 million)")
    add("--vocabulary", type=number_from(100), default=100_000, metavar="N", help="different ones (default 100,000)")
    add("--epochs", type=number_from(1), default=5, metavar="N", help="passes over CORPUS (default 5)")
    add("--workers", type=number_from(1), default=usable_cores(), metavar="N", help="threads (default: all cores)")
    add("--seconds", type=number_from(1), default=400, metavar="N", help="no run begins after these (default 400)")
    add("--small", action="store_true", help="a part of the suite and two blocks, to try the command itself")
    return parser


if __name__ == "__main__":
    raise SystemExit(status_of(main))
