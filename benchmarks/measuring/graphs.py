"""Makes graphs whose nodes have communities, walks on them, and scores of vectors of their nodes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

WALK_LENGTH = 80  # nodes
_EDGES_PER_NODE = 10
_DRAWS_PER_NODE_WITH_HUBS = 20  # of edges: many are drawn more than once
_NODES_PER_COMMUNITY = 200
_OWN_SHARE = 0.4  # of edges that stay in a community
_DEGREE_SPREAD = 0.7  # standard deviation of the logarithm of expected degrees
_HIDDEN_SHARE = 0.1  # of the edges, which no walk takes
_LABELLED_SHARE = 0.2  # of the nodes, from which a classifier learns
_SCORED_NODES = 20_000  # in all random choices of these together


@dataclass
class Graph:
    """A graph without directions, and pairs of nodes that no walk takes.

    Node i is joined to `neighbours[starts[i] : starts[i + 1]]`, where a neighbour may be more than once. `hidden`
    [n, 2] has the pairs whose edges were removed, and `strangers` [n, 2] pairs that were never joined.
    """

    communities: np.ndarray  # of each node
    starts: np.ndarray
    neighbours: np.ndarray
    hidden: np.ndarray
    strangers: np.ndarray


def make_graph(nodes: int, rng: np.random.Generator, hubs: bool = False) -> Graph:
    """Return a random graph: degrees differ, and a part of the edges stay within a community.

    With hubs, degrees follow Zipf's law: nodes get ranks by chance, and a node is drawn with a chance of 1 / rank. An
    edge that is drawn more than once counts as often, because a graph without such edges has hubs of a lower degree.
    """
    communities = rng.integers(0, max(2, nodes // _NODES_PER_COMMUNITY), nodes)
    weights = 1 / (1 + rng.permutation(nodes)) if hubs else rng.lognormal(sigma=_DEGREE_SPREAD, size=nodes)
    draws = _DRAWS_PER_NODE_WITH_HUBS if hubs else _EDGES_PER_NODE
    pairs = _pairs(communities, weights, draws * nodes, rng)
    edges = _distinct(pairs)
    is_hidden = rng.random(len(edges)) < _HIDDEN_SHARE
    strangers = _distinct(_pairs(np.zeros(nodes, int), weights, len(edges), rng))
    strangers = _without(edges, strangers, nodes)
    rng.shuffle(strangers)
    hidden = edges[is_hidden][: len(strangers)]
    walked = _without(edges[is_hidden], _ordered(pairs), nodes) if hubs else edges[~is_hidden]
    starts, neighbours = _adjacency(walked, nodes)
    return Graph(communities, starts, neighbours, hidden, strangers[: len(hidden)])


def _pairs(communities: np.ndarray, weights: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return pairs [count, 2] of nodes drawn by their weights, a part of them from one community each."""
    shares = weights / weights.sum()
    first, second = rng.choice(len(weights), (2, count), p=shares)
    own = np.flatnonzero(rng.random(count) < _OWN_SHARE)
    for community in np.unique(communities):
        members = np.flatnonzero(communities == community)
        here = own[communities[first[own]] == community]
        second[here] = rng.choice(members, len(here), p=shares[members] / shares[members].sum())
    return np.stack([first, second], axis=1)


def _distinct(pairs: np.ndarray) -> np.ndarray:
    """Return each pair of two nodes once, the smaller number first."""
    return np.unique(_ordered(pairs), axis=0)


def _ordered(pairs: np.ndarray) -> np.ndarray:
    """Return the pairs of two nodes as often as they are there, the smaller number first."""
    pairs = np.sort(pairs, axis=1)
    return pairs[pairs[:, 0] != pairs[:, 1]]


def _without(removed: np.ndarray, pairs: np.ndarray, nodes: int) -> np.ndarray:
    """Return the pairs that are not among the removed ones; in both, the smaller number is first."""
    return pairs[~np.isin(_number(pairs, nodes), _number(removed, nodes))]


def _number(pairs: np.ndarray, nodes: int) -> np.ndarray:
    """Return a number for each pair that no other pair has."""
    numbers: np.ndarray = pairs[:, 0] * nodes + pairs[:, 1]
    return numbers


def _adjacency(edges: np.ndarray, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where each node's neighbours begin, and the neighbours. A node without any has itself."""
    alone = np.setdiff1d(np.arange(nodes), edges)
    both = np.concatenate([edges, edges[:, ::-1], np.stack([alone, alone], axis=1)])
    both = both[np.argsort(both[:, 0], kind="stable")]
    return np.searchsorted(both[:, 0], np.arange(nodes + 1)), both[:, 1]


def random_walks(graph: Graph, tokens: int, rng: np.random.Generator) -> np.ndarray:
    """Return walks [n, WALK_LENGTH] of about so many tokens: each step takes an edge, all with equal chances."""
    nodes = len(graph.communities)
    place = np.resize(rng.permutation(nodes), max(1, round(tokens / WALK_LENGTH)))
    steps = [place]
    for _ in range(WALK_LENGTH - 1):
        degree = graph.starts[place + 1] - graph.starts[place]
        place = graph.neighbours[graph.starts[place] + (rng.random(len(place)) * degree).astype(int)]
        steps.append(place)
    return np.stack(steps, axis=1)


def write_walks(walks: np.ndarray, path: Path) -> None:
    """Write a walk on each line, of the nodes' numbers."""
    names = [str(node) for node in range(int(walks.max()) + 1)]
    with path.open("w", encoding="ascii") as lines:
        for walk in walks:
            lines.write(" ".join([names[node] for node in walk.tolist()]) + "\n")


def pairs_in(starts: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """Return the edges [n, 2] of a graph once each, the smaller number first, without those from a node to itself."""
    first = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    is_first = first < neighbours
    return np.stack([first[is_first], neighbours[is_first]], axis=1)


def write_edges(edges: np.ndarray, path: Path) -> None:
    """Write the two nodes of an edge on each line, between which is a tab."""
    with path.open("w", encoding="ascii") as lines:
        lines.writelines(f"{first}\t{second}\n" for first, second in edges.tolist())


def write_graph(graph: Graph, path: Path) -> None:
    """Write a graph for `read_graph`."""
    np.savez(path, **asdict(graph))


def read_graph(path: str | os.PathLike[str]) -> Graph:
    """Return the graph that `write_graph` wrote."""
    with np.load(path) as arrays:
        return Graph(**arrays)


def scores_of_nodes(keyed_vectors: Any, graph: Graph) -> dict[str, float]:
    """Return two scores in percent.

    `communities` is the micro-averaged F1 of communities that a logistic regression predicts from the vectors of nodes,
    the mean over some random choices of the nodes that it learns from. `links` is the area under the ROC curve of
    cosine similarities, which are to tell hidden edges from pairs that were never joined.
    """
    from sklearn.metrics import roc_auc_score

    nodes = len(graph.communities)
    # A node that no walk has visited has no vector.
    row_of = {str(node): row for node, row in keyed_vectors.key_to_index.items()}  # nodes may be ints
    rows = [row_of.get(str(node), -1) for node in range(nodes)]
    vectors = np.append(keyed_vectors.get_normed_vectors(), np.zeros((1, keyed_vectors.vector_size)), axis=0)[rows]
    pairs = np.concatenate([graph.hidden, graph.strangers])
    is_edge = np.repeat([1, 0], [len(graph.hidden), len(graph.strangers)])
    similarities = np.einsum("ij,ij->i", vectors[pairs[:, 0]], vectors[pairs[:, 1]])
    return {
        "communities": 100 * _f1(vectors, graph.communities, "micro"),
        "links": 100 * float(roc_auc_score(is_edge, similarities)),
    }


def f1_of_nodes(nodes: Sequence[str], vectors: np.ndarray, labels: np.ndarray) -> float:
    """Return the macro-averaged F1 of labels that a logistic regression predicts from the vectors of nodes.

    Parameters
    ----------
    nodes : sequence of str
        The number of the node that each row of `vectors` is of. A node without a vector gets zeros.
    labels : ndarray
        Of all nodes, by their numbers.
    """
    every = np.zeros((len(labels), vectors.shape[1]))
    every[[int(node) for node in nodes]] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return _f1(every, labels, "macro")


def _f1(vectors: np.ndarray, labels: np.ndarray, average: str) -> float:
    """Return F1 of labels that a classifier predicts, the mean over some choices of the nodes that it learns from."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import f1_score
    from sklearn.model_selection import train_test_split

    found = []
    for seed in range(max(1, _SCORED_NODES // len(labels))):
        learnt, tested, known, truth = train_test_split(
            vectors, labels, train_size=_LABELLED_SHARE, random_state=seed, shuffle=True
        )
        predicted = LogisticRegression(C=10, max_iter=1000).fit(learnt, known).predict(tested)
        found.append(f1_score(truth, predicted, average=average))
    return float(np.mean(found))
