"""What trained vectors score, and whether they are numbers at all."""

from __future__ import annotations

import functools
import zlib
from typing import Any

from measuring.checkout import use_checkout


def is_finite(keyed_vectors: Any) -> bool:
    """Return whether every number in the vectors is finite."""
    import numpy as np

    return bool(np.isfinite(keyed_vectors.vectors).all())


def scores_of(keyed_vectors: Any) -> dict[str, float | None]:
    """Return every score in percent (Spearman's correlation, or accuracy) and their mean; None where undefined."""
    use_checkout()
    from gensim_tfw2v.evaluation import score_vectors

    scores = score_vectors(keyed_vectors)
    named = {score.name: score.spearman for score in scores.pairs}
    named["analogies"] = scores.analogies[0].accuracy
    return {name: None if value is None else 100 * value for name, value in named.items()} | {"mean": scores.mean}


def without_left_out(word: str, count: int, min_count: int) -> int:
    """Return gensim's answer whether a word is in the vocabulary: every other word of the sets of pairs is not."""
    from gensim import utils

    return utils.RULE_DISCARD if word in _left_out() else utils.RULE_DEFAULT


def scores_of_left_out(keyed_vectors: Any) -> dict[str, float | None]:
    """Return Spearman's correlation in percent on pairs of which a word is known by its n-grams alone, and the mean.

    The words of other pairs are all in the vocabulary or all too rare for it.
    """
    import numpy as np
    from scipy.stats import spearmanr

    found: dict[str, float | None] = {}
    for name, pairs in _pairs().items():
        scored = [
            (keyed_vectors.similarity(one, other), score)
            for one, other, score in pairs
            if {one, other} & _left_out()
            and all(word in keyed_vectors.key_to_index or word in _left_out() for word in (one, other))
        ]
        found[name] = 100 * float(spearmanr(*zip(*scored, strict=True)).statistic)
    return found | {"mean": float(np.mean(list(found.values())))}


@functools.cache
def _left_out() -> frozenset[str]:
    words = {word for pairs in _pairs().values() for one, other, _ in pairs for word in (one, other)}
    return frozenset(word for word in words if zlib.crc32(word.encode()) % 2 == 0)


@functools.cache
def _pairs() -> dict[str, list[tuple[str, str, float]]]:
    """Return the sets of word pairs in gensim's package, with the similarity that people see."""
    from gensim.test.utils import datapath

    found = {}
    for name in ("wordsim353.tsv", "simlex999.txt"):
        with open(datapath(name), encoding="utf8") as file:
            fields = [line.lower().split() for line in file if not line.startswith("#")]
        found[name.partition(".")[0]] = [(line[0], line[1], float(line[2])) for line in fields if len(line) >= 3]
    return found
