"""Learns vectors of a graph's nodes by node2vec: `embed_graph.py SYSTEM EDGES VECTORS SETTINGS`, in its own process.

SYSTEM is "tfw2v" or "pecanpy", EDGES a file of pairs of nodes, VECTORS the file of NumPy's format to write, and
SETTINGS a JSON object. A line of JSON on standard output says how long it took. Nothing of the benchmarks is imported,
because an environment that has PecanPy lacks it.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Embedding = tuple[list[str], Any]
_PACKAGES = ("numpy", "gensim", "tensorflow", "pecanpy", "numba")
_RING = 12  # nodes of the graph that is embedded first


def _tfw2v(edges: str, settings: Mapping[str, Any]) -> Embedding:
    from gensim_tfw2v import RandomWalks, TFWord2Vec

    walking = {name: settings[name] for name in ("p", "q", "walks_per_node", "walk_length", "seed", "workers")}
    training = {name: settings[name] for name in ("vector_size", "window", "epochs", "seed", "workers")}
    model = TFWord2Vec(RandomWalks(edges, **walking), sg=1, min_count=1, sample=0, progress=False, **training)
    return list(model.wv.index_to_key), model.wv.vectors


def _pecanpy(edges: str, settings: Mapping[str, Any]) -> Embedding:
    from pecanpy import pecanpy

    graph = pecanpy.SparseOTF(
        p=settings["p"], q=settings["q"], workers=settings["workers"], random_state=settings["seed"]
    )
    graph.read_edg(edges, weighted=False, directed=False)
    vectors = graph.embed(
        dim=settings["vector_size"],
        num_walks=settings["walks_per_node"],
        walk_length=settings["walk_length"] - 1,  # steps
        window_size=settings["window"],
        epochs=settings["epochs"],
    )
    return list(graph.nodes), vectors


SYSTEMS: dict[str, Callable[[str, Mapping[str, Any]], Embedding]] = {"tfw2v": _tfw2v, "pecanpy": _pecanpy}


def main(arguments: list[str]) -> None:
    """Embed a small graph, which loads and compiles everything, and then the graph; print seconds of both."""
    system, edges, path, settings = *arguments[:3], json.loads(arguments[3])
    embed = SYSTEMS[system]
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        ring = os.path.join(folder, "ring.tsv")
        with open(ring, "w", encoding="ascii") as lines:
            lines.writelines(f"{node}\t{(node + 1) % _RING}\n" for node in range(_RING))
        embed(ring, {**settings, "walks_per_node": 1, "epochs": 1})
    started = time.perf_counter()
    nodes, vectors = embed(edges, settings)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    np.savez(path, nodes=np.array(nodes, dtype=str), vectors=np.asarray(vectors, np.float32))
    result = {"start_seconds": started - began, "seconds": seconds, "peak_rss_bytes": peak, "versions": _versions()}
    print(json.dumps(result), flush=True)


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
