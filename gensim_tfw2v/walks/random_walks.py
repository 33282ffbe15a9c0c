"""Random walks on a graph, which C functions draw while they are read."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from gensim_tfw2v.arguments.rules import PositiveNumber, WholeNumber
from gensim_tfw2v.arrays import Float64Array, Int32Array
from gensim_tfw2v.corpus.sentence_parts import SentenceParts
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.tokenizer import Part
from gensim_tfw2v.native.functions import call
from gensim_tfw2v.native.random_numbers import RandomNumbers
from gensim_tfw2v.runtime.cores import CoreCount
from gensim_tfw2v.runtime.tensorflow import usable_cores
from gensim_tfw2v.walks.edges import edges_of
from gensim_tfw2v.walks.graph import Graph

_LONGEST_WALK = 10_000_000
_NODES_AT_ONCE = 1 << 18  # of walks that one call of C draws
_RULES = {
    "walks_per_node": WholeNumber(1, is_int=True),
    "walk_length": WholeNumber(1, most=_LONGEST_WALK, is_int=True),
    "p": PositiveNumber(),
    "q": PositiveNumber(),
    "seed": WholeNumber(0, is_int=True),
    "workers": CoreCount(is_int=True, or_none=True),
}
_WALKS, _ORDER = 0x77616C6B, 0x6F726472  # purposes of random numbers


class RandomWalks(SentenceParts):
    """Random walks on a graph, as the sentences of a corpus.

    Walks are drawn while they are read, and never stored. `seed` decides which, whatever `workers` is. All passes over
    one object yield the same walks, unless `resample`.

    Parameters
    ----------
    edges : str, os.PathLike, ndarray, iterable of pairs, or sparse matrix
        A file with two nodes on each line, and perhaps a weight, between white space, plain or compressed. Or pairs of
        nodes, which are whole numbers or text. Or a matrix of SciPy whose entries are weights.
    walks_per_node : int, optional
        How many walks begin at each node.
    walk_length : int, optional
        Nodes of a walk. A walk is shorter where no edge leads on.
    p : float, optional
        The weight of a step back to the node before is divided by this: above 1 steps back are rare.
    q : float, optional
        The weight of a step to a node that is no neighbour of the node before is divided by this: above 1 walks stay
        near, below 1 they go far.
    directed : bool, optional
        Whether an edge leads only from its first node to its second one.
    weights : array_like, optional
        The weight of each of the pairs. By default all are equal.
    resample : bool, optional
        Whether each pass draws other walks, so that every epoch trains new ones. The first pass is the same either way.
    seed : int, optional
        Seed of random numbers.
    workers : int, optional
        Threads that draw walks; by default, and with -1, one for each usable core.

    Attributes
    ----------
    nodes : list
        All nodes.
    passes : int
        With `resample`, the number of the next pass: 0 for the first one. Set it to draw a pass again. A training that
        resumes from a checkpoint does so itself.

    Examples
    --------
    >>> from gensim_tfw2v import RandomWalks, TFWord2Vec
    >>> walks = RandomWalks([(1, 2), (2, 3), (3, 1)], walks_per_node=2, walk_length=5)
    >>> model = TFWord2Vec(walks, sg=1, min_count=1, sample=0)
    """

    def __init__(
        self,
        edges: Any,
        *,
        walks_per_node: int = 10,
        walk_length: int = 80,
        p: float = 1.0,
        q: float = 1.0,
        directed: bool = False,
        weights: Any = None,
        resample: bool = False,
        seed: int = 1,
        workers: int | None = None,
    ) -> None:
        variables = locals()
        given = {name: rule.plain(name, variables[name]) for name, rule in _RULES.items()}
        self._walks_per_node: int = given["walks_per_node"]
        self._walk_length: int = given["walk_length"]
        self._seed: int = given["seed"]
        self.repeats = not resample
        self._workers: int = given["workers"] or usable_cores()
        is_biased = given["p"] != 1 or given["q"] != 1
        self._bias: Float64Array = np.array([1 / given["p"], 1, 1 / given["q"]] if is_biased else [], np.float64)
        found = edges_of(edges, weights, self._workers)
        self.nodes: list[Any] = found.nodes
        self._graph = Graph.of(found, directed)

    def __len__(self) -> int:
        return len(self.nodes) * self._walks_per_node

    def of_pass(self, number: int) -> RandomWalks:
        """Return the walks of a pass, which do not change; the next pass then has a greater number."""
        if self.repeats:
            return self
        self.passes = max(self.passes, number + 1)
        found = copy.copy(self)  # with the same graph
        found.repeats, found.passes = True, number
        return found

    def drawn(self) -> Generator[Sentences, None, None]:
        """Yield all walks, some at a time, as numbers of nodes. Threads draw the next ones meanwhile."""
        if not self.repeats:
            yield from self.of_pass(self.passes).drawn()
            return
        waiting: deque[Future[Sentences]] = deque()
        with ThreadPoolExecutor(self._workers, "random-walks") as threads:
            for number, begins in enumerate(self._begins()):
                waiting.append(threads.submit(self._draw, number, begins))
                if len(waiting) > self._workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _begins(self) -> Iterator[Int32Array]:
        """Yield the first nodes of some walks at a time: all nodes in random order, again and again."""
        walks = max(1, _NODES_AT_ONCE // self._walk_length)
        for turn in range(self._walks_per_node):
            order = np.random.default_rng(self._entropy(_ORDER, turn)).permutation(len(self.nodes)).astype(np.int32)
            for start in range(0, len(order), walks):
                yield order[start : start + walks]

    def _entropy(self, purpose: int, number: int) -> list[int]:
        """Return what random numbers for a purpose follow from in this pass."""
        entropy = [self._seed, purpose, number]
        return [*entropy, self.passes] if self.passes else entropy

    def _draw(self, number: int, begins: Int32Array) -> Sentences:
        graph, length = self._graph, self._walk_length
        nodes, lengths = np.empty(len(begins) * length, np.int32), np.empty(len(begins), np.int32)
        random = RandomNumbers.seeded(self._entropy(_WALKS, number))
        arrays = graph.starts, graph.neighbours, graph.ends, self._bias, begins
        written = call("draw_walks", *arrays, length, random, nodes, lengths)
        return Sentences(nodes[:written], lengths)

    def parts(self) -> Generator[Part, None, None]:
        """Yield all walks, some at a time, with nodes numbered in the order of their first appearance."""
        numbers: Int32Array = np.full(len(self.nodes), -1, np.int32)
        seen = 0
        for walks in self.drawn():
            is_first, new_words = seen == 0, []
            if seen < len(self.nodes):
                new = walks.ids[numbers[walks.ids] < 0]
                new = new[np.sort(np.unique(new, return_index=True)[1])]
                numbers[new] = np.arange(seen, seen + len(new), dtype=np.int32)
                seen += len(new)
                new_words = [self.nodes[node] for node in new.tolist()]
            yield Part(is_first, new_words, numbers[walks.ids], np.append(walks.lengths, np.int32(0)))
