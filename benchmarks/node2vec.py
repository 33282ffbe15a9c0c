"""Measures node2vec, from edges to vectors, beside PecanPy with gensim: `python benchmarks/node2vec.py --help`."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measuring.checkout import BENCHMARKS, ROOT
from measuring.graphs import f1_of_nodes, make_graph, pairs_in, write_edges
from measuring.jobs import number_from, usable_cores
from measuring.runner import order_of
from measuring.tuning_tasks import example
from report.reports import MEGABYTE, add_output_arguments, say, show_middle, show_score, show_spread, start_report
from report.stopping import status_of
from report.summaries import by_round, mean_and_sd, paired_ratio, spread

OURS, PECANPY = "tfw2v", "pecanpy"
DIGITS, COMMUNITIES = "digits", "communities"
_REQUIREMENTS = ("pecanpy==2.0.9", "numpy<2")
_TRAINING = ("p", "q", "walks_per_node", "walk_length", "vector_size", "window", "epochs", "workers")
_SETTINGS = ("graphs", "nodes", "repeats", *_TRAINING)
_GRAPH_SEED = 1  # the same graphs in every run
_LAST_LINES = 5  # of a failed run's messages
_NOTES = (
    "digits: the graph of examples/graphs.py. communities: a random graph of benchmarks/measuring/graphs.py, whose "
    "nodes have communities and degrees that differ. Neither has the edges that are hidden there.",
    "Both read the same file of edges, walk, train skip-gram with negative sampling, and have a vector for every node. "
    "tfw2v: RandomWalks and TFWord2Vec. pecanpy: the class SparseOTF, which trains gensim's Word2Vec, in an "
    "environment of its own, because it needs NumPy 1.",
    "seconds: from the file to the vectors, after a graph of 12 nodes. start s: of that graph, with imports, and what "
    "is compiled or made when it is first needed. PecanPy compiles its walks again for each graph. Both have the "
    "middle run, and seconds the fastest and slowest.",
    "ratio: PecanPy's seconds divided by those of this row, without and with the start. In brackets: the smallest and "
    "the largest ratio of runs of the same round.",
    "macro-F1: in percent, of labels that a logistic regression predicts from the vectors of nodes, whose labels it "
    "knows of a fifth; the mean over choices of that fifth, and the standard deviation over runs.",
)


@dataclass(frozen=True)
class LabelledGraph:
    """A graph without directions: pairs of nodes [n, 2], and the label of each node."""

    edges: np.ndarray
    labels: np.ndarray


def main(argv: list[str] | None = None) -> int:
    """Measure both systems on all graphs; the exit status is 0."""
    arguments = _parser().parse_args(argv)
    report = start_report("node2vec beside PecanPy", arguments, _SETTINGS, _NOTES)
    runs: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="tfw2v-node2vec-") as name:
        folder = Path(name)
        pythons = {OURS: sys.executable}
        if PECANPY in arguments.systems:
            pythons[PECANPY] = str(environment_in(arguments.environment or folder / "environment"))
        for graph_name in arguments.graphs:
            graph = digits() if graph_name == DIGITS else communities(arguments.nodes)
            edges = folder / f"{graph_name}.tsv"
            write_edges(graph.edges, edges)
            for turn in range(arguments.repeats):
                for system in order_of(turn, arguments.systems):
                    settings = {each: getattr(arguments, each) for each in _TRAINING} | {"seed": turn + 1}
                    result = run(pythons[system], system, edges, settings, graph.labels)
                    say(f"round {turn + 1}, {graph_name}, {system}: {result['seconds']:.1f} s, {result['f1']:.3f}")
                    size = {"nodes": len(graph.labels), "edges": len(graph.edges)}
                    runs.append({"graph": graph_name, "system": system, "round": turn, **size, **result})
                    report.save({"Results": table_of(runs)}, {"runs": runs})
    print(report.save({"Results": table_of(runs)}, {"runs": runs}))
    return 0


def digits() -> LabelledGraph:
    """Return the graph of pictures of digits."""
    graph = example("graphs").read_graph(np.random.default_rng(_GRAPH_SEED))
    return LabelledGraph(pairs_in(graph.starts, graph.neighbours), graph.labels)


def communities(nodes: int) -> LabelledGraph:
    """Return a random graph, whose labels are communities."""
    graph = make_graph(nodes, np.random.default_rng(_GRAPH_SEED))
    return LabelledGraph(pairs_in(graph.starts, graph.neighbours), graph.communities)


def environment_in(folder: Path) -> Path:
    """Return the Python of an environment with PecanPy, which is made if the folder has none."""
    python = folder / "bin" / "python"
    if not python.exists():
        say(f"making an environment with {' and '.join(_REQUIREMENTS)} in {folder} ...")
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *_REQUIREMENTS], check=True)
    return python


def run(python: str, system: str, edges: Path, settings: Mapping[str, Any], labels: np.ndarray) -> dict[str, Any]:
    """Embed a graph in a new process, and return its times, memory, versions and F1."""
    vectors = edges.with_suffix(".npz")
    command = [python, str(BENCHMARKS / "measuring" / "embed_graph.py"), system, str(edges), str(vectors)]
    # PecanPy's walks take Numba's number of threads, whatever its argument says.
    own = {"PYTHONPATH": str(ROOT)} if system == OURS else {"NUMBA_NUM_THREADS": str(settings["workers"])}
    done = subprocess.run([*command, json.dumps(settings)], capture_output=True, text=True, env=os.environ | own)
    if done.returncode:
        last_lines = done.stderr.strip().splitlines()[-_LAST_LINES:]
        raise SystemExit(f"node2vec: error: {system} ended with status {done.returncode}: " + "\n".join(last_lines))
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    with np.load(vectors) as found:
        result["f1"] = f1_of_nodes(found["nodes"].tolist(), found["vectors"], labels)
    return result


def table_of(runs: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return a row for each graph and system, in the order of their first runs."""
    table = [["graph", "nodes", "edges", "system", "runs", "seconds", "ratio", "start s", "ratio with start",
              "peak RSS MB", "macro-F1"]]  # fmt: skip
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for each in runs:
        groups.setdefault((each["graph"], each["system"]), []).append(each)
    for (graph, system), group in groups.items():
        beside = groups.get((graph, PECANPY), [])
        ratios = (paired_ratio(by_round(beside, seconds), by_round(group, seconds)) for seconds in (_warm, _whole))
        warm, whole = (show_spread(ratio, ".2f") for ratio in ratios)
        table.append(
            [
                graph,
                f"{group[0]['nodes']:,}",
                f"{group[0]['edges']:,}",
                system,
                str(len(group)),
                show_spread(spread(map(_warm, group)), ".1f"),
                warm,
                show_middle(spread(each["start_seconds"] for each in group), ".1f"),
                whole,
                f"{max(each['peak_rss_bytes'] for each in group) / MEGABYTE:,.0f}",
                show_score(mean_and_sd(100 * each["f1"] for each in group)),
            ]
        )
    return table


def _warm(run: Mapping[str, Any]) -> float:
    return float(run["seconds"])


def _whole(run: Mapping[str, Any]) -> float:
    return float(run["start_seconds"] + run["seconds"])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Measure node2vec from a file of edges to vectors of nodes: seconds, memory, and how well vectors "
        "tell labels (needs scikit-learn). PecanPy runs in an environment of its own, which pip fills from a package "
        "index."
    )
    add, count, above_0 = parser.add_argument, number_from(1), number_from(1e-9, float)
    add_output_arguments(parser, "node2vec")
    add("--graphs", nargs="+", choices=[DIGITS, COMMUNITIES], default=[DIGITS, COMMUNITIES], help="default: both")
    add("--nodes", type=count, default=20_000, metavar="N", help="of the graph with communities (default 20000)")
    add("--systems", nargs="+", choices=[OURS, PECANPY], default=[OURS, PECANPY], help="default: both")
    add("--environment", type=Path, metavar="DIR", help="of PecanPy, which stays there (default: made anew)")
    add("--repeats", type=count, default=1, metavar="N", help="runs of everything, each with a seed (default 1)")
    add("--p", type=above_0, default=1.0, metavar="X", help="default: 1")
    add("--q", type=above_0, default=0.5, metavar="X", help="default: 0.5")
    add("--walks-per-node", type=count, default=10, metavar="N", help="default: 10")
    add("--walk-length", type=count, default=80, metavar="N", help="nodes of a walk (default 80)")
    add("--vector-size", type=count, default=128, metavar="N", help="default: 128")
    add("--window", type=count, default=10, metavar="N", help="default: 10")
    add("--epochs", type=count, default=1, metavar="N", help="passes over the walks (default 1)")
    add("--workers", type=count, default=usable_cores(), metavar="N", help="default: all cores")
    return parser


if __name__ == "__main__":
    raise SystemExit(status_of(main))
