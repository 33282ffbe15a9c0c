"""What gensim's models of the Lee corpus hold for similar: the file that tests compare with, and how it was made.

This trains the models, and writes tests/data/gensims_likeness.npz, in an environment with gensim 4.4:

    PYTHONPATH=benchmarks:tests python tests/support/gensims_likeness.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from gensim.models import Word2Vec
from gensim.test.utils import datapath
from gensim.utils import simple_preprocess
from measuring.agreement import NEIGHBOURS, Agreement, Likeness, likeness_of

from support.contract import PURE_MODES

SAVED = Path(__file__).parents[1] / "data" / "gensims_likeness.npz"
SAVED_SEEDS = (1, 2)
SEEDS = range(1, 6)
LEE_ARGUMENTS: dict[str, Any] = {"vector_size": 50, "min_count": 5, "epochs": 20, "workers": 2}

# Means over the ten pairs of gensim 4.4's models with five seeds: rank correlation of similarities, and how many of ten
# neighbours they share. test_quality.py checks them with --all. The lowest and highest pair are:
#   skipgram-negative     0.831 to 0.843, 0.593 to 0.615        cbow-negative     0.973 to 0.979, 0.620 to 0.647
#   skipgram-hierarchical 0.909 to 0.917, 0.636 to 0.660        cbow-hierarchical 0.941 to 0.947, 0.606 to 0.626
GENSIMS_AGREEMENT = {
    "skipgram-negative": Agreement(0.837, 0.603),
    "skipgram-hierarchical": Agreement(0.913, 0.650),
    "cbow-negative": Agreement(0.976, 0.637),
    "cbow-hierarchical": Agreement(0.944, 0.616),
}


def gensims_likeness(sentences: list[list[str]], mode_name: str, seed: int) -> Likeness:
    """Return what a model that gensim trains holds for similar."""
    return likeness_of(Word2Vec(sentences, seed=seed, **LEE_ARGUMENTS, **PURE_MODES[mode_name]).wv)


def saved_likenesses(mode_name: str) -> list[Likeness]:
    """Return what the committed models of a mode hold for similar."""
    with np.load(SAVED) as saved:
        similarities, neighbours = saved[f"{mode_name}-similarities"], saved[f"{mode_name}-neighbours"]
    return [
        Likeness(of_pairs, [set(row) for row in nearest.tolist()])
        for of_pairs, nearest in zip(similarities, neighbours, strict=True)
    ]


def _in_256_steps(similarities: np.ndarray) -> np.ndarray:
    """Return similarities as bytes: only their ranks are compared."""
    scaled = (similarities - similarities.min()) / np.ptp(similarities)
    return np.round(255 * scaled).astype(np.uint8)


def save() -> None:
    """Train gensim's models and write the file: for each mode [seed, pair] and [seed, word, neighbour]."""
    text = Path(datapath("lee_background.cor")).read_text(encoding="utf-8")
    lee = [simple_preprocess(line) for line in text.splitlines()]
    arrays = {}
    for mode_name in PURE_MODES:
        found = [gensims_likeness(lee, mode_name, seed) for seed in SAVED_SEEDS]
        arrays[f"{mode_name}-similarities"] = np.array([_in_256_steps(model.similarities) for model in found])
        neighbours = [[sorted(words) for words in model.neighbours] for model in found]
        arrays[f"{mode_name}-neighbours"] = np.array(neighbours, np.uint16)
        assert arrays[f"{mode_name}-neighbours"].shape[2] == NEIGHBOURS
    SAVED.parent.mkdir(exist_ok=True)
    np.savez_compressed(SAVED, **arrays)


if __name__ == "__main__":
    save()
