"""Says how well vectors place rare words, by words of which some occurrences got another name before training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

SPREAD, BURST, HALF = "spread", "burst", "half"
COUNTS = (6, 20, 80)  # occurrences that get another name, unless the caller says otherwise
_LEAST_SHARE_LEFT = 0.75  # of a word's occurrences keep its name, so that its own vector stays what it would be
_LEAST_TO_HALVE = 20  # occurrences of a word of which half get another name
_ENDING = "~renamed"  # of the other name
ANCHORS = 1000  # words whose cosines to a word say where it is: so many of the most frequent ones
BANDS = ((5, 10), (10, 30), (30, 100), (100, 300), (300, 1000))  # occurrences, the second number left out
_WORDS_IN_A_BAND = 500
_WORDS_AT_ONCE = 256  # whose cosines to the whole vocabulary are in memory


@dataclass(frozen=True)
class Renamed:
    """A word of which `count` occurrences got another name."""

    word: str
    count: int
    kind: str  # BURST: one after the other, as in an article about one subject; SPREAD and HALF: drawn from all

    @property
    def name(self) -> str:
        """Return the other name."""
        return self.word + _ENDING

    @property
    def column(self) -> str:
        """Return the column of the table of ranks in which the word counts."""
        return HALF if self.kind == HALF else f"{self.count} {self.kind}"


def rename_words(
    corpus: Path,
    renamed_corpus: Path,
    words: int,
    seed: int,
    counts: Sequence[int] = COUNTS,
    anchors: int = ANCHORS,
) -> list[Renamed]:
    """Write the corpus with new names of some occurrences of at most `words` words, and return these words.

    They are the most frequent ones of those that are rare enough not to be among the anchors. Each has one of the
    counts and kinds, in turn.
    """
    occurrences = count_words(corpus)
    least = max(counts) / (1 - _LEAST_SHARE_LEFT)
    candidates = [word for word, count in occurrences.most_common()[anchors:] if count >= least][:words]
    if not candidates:
        raise ValueError(
            f"{corpus.name} has no word with {least:.0f} occurrences beside its {anchors} most frequent words"
        )
    rng = np.random.default_rng(seed)
    rng.shuffle(candidates)
    kinds = [(count, kind) for count in counts for kind in (SPREAD, BURST)]
    renamed = [Renamed(word, *kinds[number % len(kinds)]) for number, word in enumerate(candidates)]
    _write_drawn(corpus, renamed_corpus, renamed, occurrences, rng)
    return renamed


def rename_halves(corpus: Path, renamed_corpus: Path, words: int, seed: int) -> list[Renamed]:
    """Write the corpus with new names of half of the occurrences of the most frequent words, and return these words."""
    occurrences = count_words(corpus)
    frequent = [(word, count) for word, count in occurrences.most_common(words) if count >= _LEAST_TO_HALVE]
    if not frequent:
        raise ValueError(f"{corpus.name} has no word with {_LEAST_TO_HALVE} occurrences")
    renamed = [Renamed(word, count // 2, HALF) for word, count in frequent]
    _write_drawn(corpus, renamed_corpus, renamed, occurrences, np.random.default_rng(seed))
    return renamed


def _write_drawn(
    corpus: Path,
    renamed_corpus: Path,
    renamed: Sequence[Renamed],
    occurrences: Mapping[str, int],
    rng: np.random.Generator,
) -> None:
    """Write the corpus with new names of the words' occurrences, which are drawn."""
    taken = {one.word: _occurrences(one, occurrences[one.word], rng) for one in renamed}
    write_renamed(corpus, renamed_corpus, taken)


def _occurrences(one: Renamed, count: int, rng: np.random.Generator) -> set[int]:
    """Return the numbers of the occurrences that get the other name, of `count` in all."""
    if one.kind == BURST:
        first = int(rng.integers(count - one.count + 1))
        return set(range(first, first + one.count))
    return set(rng.choice(count, one.count, replace=False).tolist())


def count_words(corpus: Path) -> Counter[str]:
    """Return how often each word occurs."""
    return Counter(word for line in _lines_of(corpus) for word in line)


def write_renamed(corpus: Path, renamed_corpus: Path, taken: Mapping[str, set[int]]) -> None:
    """Write the corpus with other names of some words' occurrences, given by their numbers from 0 on."""
    seen: Counter[str] = Counter()
    with renamed_corpus.open("w", encoding="utf-8") as written:
        for line in _lines_of(corpus):
            for place, word in enumerate(line):
                if word in taken:
                    if seen[word] in taken[word]:
                        line[place] = word + _ENDING
                    seen[word] += 1
            written.write(" ".join(line) + "\n")


def _lines_of(corpus: Path) -> Iterator[list[str]]:
    with corpus.open(encoding="utf-8") as lines:
        for line in lines:
            yield line.split()


def reciprocal_ranks(vectors: Any, renamed: Sequence[Renamed]) -> dict[str, float]:
    """Return the mean reciprocal rank in percent of true words among the neighbours of renamed ones, by column."""
    by_column: dict[str, list[Renamed]] = {}
    for one in sorted(renamed, key=lambda one: (one.count, one.kind == BURST)):
        by_column.setdefault(one.column, []).append(one)
    inverse = {
        column: np.concatenate([_inverse_ranks(vectors, part) for part in _in_parts(some)])
        for column, some in by_column.items()
    }
    return {column: 100 * float(values.mean()) for column, values in inverse.items()}


def _inverse_ranks(vectors: Any, renamed: Sequence[Renamed]) -> np.ndarray:
    """Return for each renamed word 1 / rank of the true word among the neighbours of its other name."""
    unit = vectors.get_normed_vectors()
    names = [vectors.key_to_index[one.name] for one in renamed]
    words = [vectors.key_to_index[one.word] for one in renamed]
    cosines = unit[names] @ unit.T
    rows = np.arange(len(renamed))
    cosines[rows, names] = -np.inf  # a word is not its own neighbour
    return np.asarray(1 / (1 + (cosines > cosines[rows, words][:, None]).sum(axis=1)))


def _in_parts(renamed: Sequence[Renamed]) -> Iterator[Sequence[Renamed]]:
    for first in range(0, len(renamed), _WORDS_AT_ONCE):
        yield renamed[first : first + _WORDS_AT_ONCE]


def agreement_by_band(vectors: Any, reference: Any, most_anchors: int = ANCHORS) -> dict[str, float]:
    """Return how far words are where a reference has them, in percent, by bands of frequency.

    It is the mean over a band's words of the correlation between their cosines to the anchors in both models, which
    were trained on the same corpus.
    """
    by_band = {}
    counts = np.array([reference.get_vecattr(word, "count") for word in reference.index_to_key])
    anchors = reference.index_to_key[:most_anchors]
    for low, high in BANDS:
        places = np.flatnonzero((counts >= low) & (counts < high) & (np.arange(len(counts)) >= len(anchors)))
        if not len(places):
            continue
        some = places[np.linspace(0, len(places) - 1, min(len(places), _WORDS_IN_A_BAND)).astype(int)]
        words = [reference.index_to_key[place] for place in some]
        both = [_standardised(_cosines(model, words, anchors)) for model in (vectors, reference)]
        by_band[f"{low} to {high - 1}"] = 100 * float((both[0] * both[1]).mean(axis=1).mean())
    return by_band


def _cosines(vectors: Any, words: Sequence[str], anchors: Sequence[str]) -> np.ndarray:
    unit = vectors.get_normed_vectors()
    rows = [[vectors.key_to_index[word] for word in some] for some in (words, anchors)]
    return unit[rows[0]] @ unit[rows[1]].T


def _standardised(cosines: np.ndarray) -> np.ndarray:
    """Return each row with mean 0 and standard deviation 1."""
    centred = cosines - cosines.mean(axis=1, keepdims=True)
    return centred / centred.std(axis=1, keepdims=True)
