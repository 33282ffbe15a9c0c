"""Learns vectors of papers from who cites whom, by random walks, and looks for citations that were hidden.

The program makes the graph: papers appear one after another in research fields, and cite earlier ones, most of them of
their own field and many of them often cited. `--papers 200000` makes it twenty times as large.
"""

from __future__ import annotations

import argparse

import numpy as np

from gensim_tfw2v import RandomWalks, TFWord2Vec

FIELDS, REFERENCES, HIDDEN = 50, 6, 1000


def citations(papers: int, rng: np.random.Generator) -> np.ndarray:
    """Return pairs of a paper and an earlier one that it cites; paper n is of field n % FIELDS."""
    citing = np.repeat(np.arange(FIELDS, papers), REFERENCES)
    earlier = np.floor((citing // FIELDS) * rng.random(len(citing)) ** 2).astype(int)  # the first are cited most
    field = np.where(rng.random(len(citing)) < 0.85, citing % FIELDS, rng.integers(0, FIELDS, len(citing)))
    return np.stack([citing, earlier * FIELDS + field], axis=1)


def main() -> None:
    """Hide some citations, learn from the others, and print how well fields and hidden citations are found."""
    parser = argparse.ArgumentParser(description="Learn vectors of papers from citations.")
    parser.add_argument("--papers", type=int, default=10_000, help="nodes of the graph (default 10,000)")
    papers = parser.parse_args().papers
    rng = np.random.default_rng(1)
    edges = rng.permutation(citations(papers, rng))
    hidden, edges = edges[:HIDDEN], edges[HIDDEN:]
    walks = RandomWalks(edges, walks_per_node=5, walk_length=40)
    print(f"{len(walks.nodes)} papers, {len(edges)} citations to learn from, {HIDDEN} hidden")

    model = TFWord2Vec(walks, sg=1, vector_size=64, min_count=1, sample=0, epochs=2, workers=2, seed=1)
    asked = rng.choice(model.wv.index_to_key, 500)
    near = [(paper, other) for paper in asked for other, _ in model.wv.most_similar(int(paper), topn=10)]
    same = np.mean([paper % FIELDS == other % FIELDS for paper, other in near])
    print(f"of the ten nearest papers are of the same field: {same:.2f}")

    known = [(one, other) for one, other in hidden.tolist() if one in model.wv and other in model.wv]
    strangers = rng.choice(model.wv.index_to_key, len(known)).tolist()
    wins = [model.wv.similarity(a, b) > model.wv.similarity(a, c) for (a, b), c in zip(known, strangers, strict=True)]
    print(f"hidden citations that are nearer than a random paper: {np.mean(wins):.2f}")


if __name__ == "__main__":
    main()
