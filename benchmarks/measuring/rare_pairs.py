"""Says how well vectors place rare words, by human judgements of words that were made rare before training."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from gensim_tfw2v.evaluation.scoring import bundled_pairs, read_pairs, score_vectors
from measuring.rare_words import count_words, write_renamed

_LEAST_TIMES = 2  # words with fewer occurrences than so many times the largest count are rare as they are
KINDS = ("no rare word", "one rare word", "two rare words")


def make_words_rare(corpus: Path, rare_corpus: Path, seed: int, counts: Sequence[int]) -> dict[str, int]:
    """Write the corpus with other names of most occurrences of some words; return how many occurrences each keeps.

    They are half of the words of gensim's similarity sets, drawn. Each keeps one of the counts, drawn as well, and the
    occurrences that it keeps are spread over the corpus.
    """
    occurrences = count_words(corpus)
    least = _LEAST_TIMES * max(counts)
    known = sorted(word for word in _words_of_sets() if occurrences[word] >= least)
    if len(known) < 2:
        raise ValueError(f"{corpus.name} has fewer than two words of the similarity sets with {least} occurrences")
    rng = np.random.default_rng(seed)
    kept = {word: int(rng.choice(counts)) for word in rng.permutation(known)[: len(known) // 2].tolist()}
    taken = {
        word: set(rng.choice(occurrences[word], occurrences[word] - count, replace=False).tolist())
        for word, count in kept.items()
    }
    write_renamed(corpus, rare_corpus, taken)
    return kept


def scores_of_pairs(vectors: Any, rare: Mapping[str, int]) -> dict[str, float]:
    """Return Spearman's correlation in percent by how many words of a pair are rare, as the mean of gensim's sets."""
    by_kind: dict[str, list[float]] = {kind: [] for kind in KINDS}
    with tempfile.TemporaryDirectory() as name:
        for path in bundled_pairs():
            for number, kind in enumerate(KINDS):
                chosen = [pair for pair in _pairs_in(path) if sum(word in rare for word in pair[:2]) == number]
                file = Path(name) / "pairs.tsv"
                file.write_text("".join("\t".join(pair) + "\n" for pair in chosen), encoding="utf-8")
                spearman = score_vectors(vectors, [str(file)], []).pairs[0].spearman if chosen else None
                if spearman is not None:
                    by_kind[kind].append(100 * spearman)
    return {kind: fmean(values) for kind, values in by_kind.items() if values}


def _words_of_sets() -> set[str]:
    return {word for path in bundled_pairs() for pair in _pairs_in(path) for word in pair[:2]}


def _pairs_in(path: str) -> Iterator[tuple[str, str, str]]:
    """Yield two words in lower case and their judgement."""
    for first, second, judgement in read_pairs(path):
        yield first.lower(), second.lower(), str(judgement)
