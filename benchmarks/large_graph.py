"""Draws walks on a large random graph and says how much memory it took: `python benchmarks/large_graph.py --help`."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from measuring.checkout import ROOT
from measuring.jobs import number_from
from measuring.memory import FamilyMemory

_EDGES_AT_ONCE = 4_000_000
_SEED = 1


def main(argv: list[str] | None = None) -> int:
    """Write a graph, run `tfw2v walks` on it, and print what it took; the exit status is that of the command."""
    arguments = _parser().parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="tfw2v-graph-", dir=arguments.folder) as name:
        edges, walks = Path(name) / "edges.tsv", Path(name) / "walks.txt"
        write_random_edges(arguments.nodes, arguments.edges, edges)
        print(f"{edges.stat().st_size / 1e9:.2f} GB of {arguments.edges:,} edges", flush=True)
        sizes = {"--walks-per-node": arguments.walks_per_node, "--walk-length": arguments.walk_length}
        options = [text for flag, size in sizes.items() for text in (flag, str(size))]
        command = [sys.executable, "-m", "gensim_tfw2v", "walks", str(edges), "--output", str(walks), *options]
        walking = [*command, "--p", str(arguments.p), "--q", str(arguments.q)]
        began = time.perf_counter()
        process = subprocess.Popen(walking, env=os.environ | {"PYTHONPATH": str(ROOT)})
        with process, FamilyMemory(process.pid) as memory:
            status = process.wait()
        seconds = time.perf_counter() - began
        print(f"{seconds:.0f} s, at most {memory.peak_until(time.time()) / 1e9:.2f} GB resident with its processes")
    return status


def write_random_edges(nodes: int, edges: int, path: Path) -> None:
    """Write so many edges of random nodes, all of which have one: on each line two numbers with a tab between."""
    import pyarrow
    import pyarrow.csv

    rng = np.random.default_rng(_SEED)
    options = pyarrow.csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    with path.open("wb") as file:
        for start in range(0, edges, _EDGES_AT_ONCE):
            count = min(_EDGES_AT_ONCE, edges - start)
            first = np.arange(start, start + count) % nodes
            second = (first + rng.integers(1, nodes, count)) % nodes  # which is another node
            pyarrow.csv.write_csv(pyarrow.table({"first": first, "second": second}), file, options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Write a file of edges between random nodes, draw walks with `tfw2v walks`, and print seconds and "
        "the largest resident memory of that command and the processes that it starts (needs pyarrow and psutil)."
    )
    add, count, above_0 = parser.add_argument, number_from(1), number_from(1e-9, float)
    add("--nodes", type=number_from(2), default=4_000_000, metavar="N", help="default: 4000000")
    add("--edges", type=count, default=80_000_000, metavar="N", help="default: 80000000")
    add("--walks-per-node", type=count, default=1, metavar="N", help="default: 1")
    add("--walk-length", type=count, default=20, metavar="N", help="nodes of a walk (default 20)")
    add("--p", type=above_0, default=1.0, metavar="X", help="default: 1")
    add("--q", type=above_0, default=0.5, metavar="X", help="default: 0.5")
    add("--folder", type=Path, metavar="DIR", help="where the files are while it runs (default: the system's)")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
