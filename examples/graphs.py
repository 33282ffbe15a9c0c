"""Learns vectors of a graph's nodes from random walks, with gensim's class and with TFWord2Vec, and compares them.

The graph joins each of scikit-learn's 1,797 pictures of handwritten digits to the pictures that look most like it. The
digit is the node's label, which training does not see.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors, Word2Vec
from gensim.utils import save_as_line_sentence
from scipy.sparse import csr_matrix
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, normalized_mutual_info_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import kneighbors_graph

from gensim_tfw2v import TFWord2Vec

NEIGHBOURS = 5  # of a picture, to which it is joined
HIDDEN_SHARE = 0.1  # of the edges, which training does not see
LABELLED_SHARE = 0.1  # of the nodes, from which the classifier learns
WALK_LENGTH = 40
SETTINGS = {"sg": 1, "vector_size": 64, "window": 5, "min_count": 1, "sample": 0, "workers": 2, "seed": 1}


@dataclass
class Graph:
    """A graph without directions, and pairs of nodes that are held back from training.

    Node i is joined to `neighbours[starts[i] : starts[i + 1]]`. `hidden` has the pairs whose edge was removed, and
    `strangers` as many pairs that were never joined.
    """

    labels: np.ndarray
    starts: np.ndarray
    neighbours: np.ndarray
    hidden: np.ndarray
    strangers: np.ndarray


def read_graph(rng: np.random.Generator) -> Graph:
    """Return the graph of digits without a part of its edges."""
    pictures, labels = load_digits(return_X_y=True)
    near = kneighbors_graph(pictures, NEIGHBOURS).toarray() > 0
    joined = near | near.T
    edges = np.argwhere(np.triu(joined))
    hidden = edges[rng.random(len(edges)) < HIDDEN_SHARE]
    strangers = rng.permutation(np.argwhere(np.triu(~joined, k=1)))[: len(hidden)]
    joined[hidden[:, 0], hidden[:, 1]] = joined[hidden[:, 1], hidden[:, 0]] = False
    alone = np.flatnonzero(~joined.any(axis=1))
    joined[alone, alone] = True  # a walk that begins there stays there
    kept = csr_matrix(joined)
    return Graph(labels, kept.indptr, kept.indices, hidden, strangers)


def random_walks(graph: Graph, walks: int, rng: np.random.Generator) -> list[list[str]]:
    """Return DeepWalk's corpus: walks from every node, each step to one of the neighbours with equal chances."""
    place = np.tile(np.arange(len(graph.labels)), walks)
    rng.shuffle(place)
    steps = [place]
    for _ in range(WALK_LENGTH - 1):
        choice = rng.random(len(place)) * (graph.starts[place + 1] - graph.starts[place])
        place = graph.neighbours[graph.starts[place] + choice.astype(int)]
        steps.append(place)
    return np.array(steps).T.astype(str).tolist()


def vectors_in_order(vectors: KeyedVectors, nodes: int) -> np.ndarray:
    """Return the vectors of nodes 0, 1, 2, ..., each of length 1."""
    return vectors.get_normed_vectors()[[vectors.key_to_index[str(node)] for node in range(nodes)]]


def scores(vectors: np.ndarray, graph: Graph) -> tuple[float, float, float]:
    """Return F1 of predicted labels, agreement of groups with labels, and how well links are told from strangers."""
    learnt, tested, labels, truth = train_test_split(
        vectors, graph.labels, train_size=LABELLED_SHARE, stratify=graph.labels, random_state=1
    )
    predicted = LogisticRegression(C=10, max_iter=1000).fit(learnt, labels).predict(tested)
    groups = KMeans(len(set(graph.labels)), n_init=10, random_state=1).fit_predict(vectors)
    pairs = np.concatenate([graph.hidden, graph.strangers])
    is_edge = np.repeat([1, 0], [len(graph.hidden), len(graph.strangers)])
    similarity = np.einsum("ij,ij->i", vectors[pairs[:, 0]], vectors[pairs[:, 1]])
    return (
        float(f1_score(truth, predicted, average="macro")),
        float(normalized_mutual_info_score(graph.labels, groups)),
        float(roc_auc_score(is_edge, similarity)),
    )


def main() -> None:
    """Train both classes on the same walks, and print seconds and scores."""
    parser = argparse.ArgumentParser(description="Learn vectors of a graph's nodes, and compare them with gensim's.")
    parser.add_argument("--walks", type=int, default=10, help="walks from each node (default 10)")
    parser.add_argument("--epochs", type=int, default=5, help="passes over the walks (default 5)")
    chosen = parser.parse_args()
    rng = np.random.default_rng(1)
    graph = read_graph(rng)
    print(f"{len(graph.labels)} nodes, {len(graph.neighbours) // 2} edges to learn from, {len(graph.hidden)} hidden")
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "walks.txt"
        save_as_line_sentence(random_walks(graph, chosen.walks, rng), str(corpus))
        print(f"{'':12} seconds  labels (F1)  groups (NMI)  links (AUC)")
        for word2vec in (Word2Vec, TFWord2Vec):
            began = time.perf_counter()
            model = word2vec(corpus_file=str(corpus), epochs=chosen.epochs, **SETTINGS)
            seconds = time.perf_counter() - began
            f1, nmi, auc = scores(vectors_in_order(model.wv, len(graph.labels)), graph)
            print(f"{word2vec.__name__:12} {seconds:7.1f}  {f1:11.3f}  {nmi:12.3f}  {auc:11.3f}")


if __name__ == "__main__":
    main()
