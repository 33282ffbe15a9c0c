"""A large text file → its words, its vocabulary and how frequent words are, estimated from pieces of it."""

from __future__ import annotations

import itertools
import math
import os
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gensim_tfw2v.arrays import Float64Array, Int64Array
from gensim_tfw2v.corpus.shards import EncodedCorpus, is_encoded
from gensim_tfw2v.corpus.table_file import is_table
from gensim_tfw2v.corpus.text_file import is_compressed
from gensim_tfw2v.planning.frequencies import TEXT_REPETITION, WordFrequencies

_PIECES, _PIECE_BYTES = 64, 1 << 18  # of a file, evenly spread
_LEAST_PIECE_WORDS = 10_000  # shorter ones say nothing of how words repeat
_REPETITIONS = np.geomspace(0.05, 1.0, 60)
_Pieces = list[list[str]]


@dataclass(frozen=True)
class CorpusEstimate:
    """What a sample says of a file."""

    words: int  # raw words
    frequencies: WordFrequencies
    least_vocabulary: int  # the range of the estimate; equal if the whole file was read
    most_vocabulary: int
    sampled_words: int
    letters: Int64Array  # of each word that was read and occurs `min_count` times there
    counts: Int64Array  # of these words, in what was read
    encoded: bool = False


def estimate_corpus(path: str | os.PathLike[str], min_count: int, words: int | None = None) -> CorpusEstimate:
    """Return an estimate of a plain text file, or of an encoded corpus. At most 16 MB of text are read.

    Raise ValueError if it is neither, if no word of the sample occurs `min_count` times, or if `words` are too few.

    Parameters
    ----------
    words : int, optional
        Raw words of the corpus of which the text is a part. By default the text is the corpus.
    """
    name, path = repr(os.fspath(path)), Path(path)
    if is_encoded(path):
        return _estimate_encoded(path, min_count, words)
    if path.is_dir() or is_compressed(path) or is_table(path):
        raise ValueError(
            f"corpus {name} cannot be sampled, because it is no plain text; encode it, or give a part of it as plain "
            "text and the words of the whole"
        )
    pieces, share = _read_pieces(path)
    counter = _counted(pieces)
    sampled, counts = counter.total(), _as_array(counter)
    if not sampled:
        raise ValueError(f"corpus {name} has no words")
    if words is not None and words < sampled:
        raise ValueError(f"{words} words are fewer than the {sampled} that were read of corpus {name}")
    share = share if words is None else sampled / words
    words = round(sampled / share)
    least = most = _at_least(counts, min_count)
    if share < 1:
        least, most = _vocabulary_range(pieces, counts, words, min_count)
    vocabulary = round(math.sqrt(least * most))
    if not vocabulary:
        raise ValueError(f"corpus {name} has no word {min_count} times; choose a smaller min_count")
    repetition = _repetition_of(pieces, counter, min_count)
    if share < 1:
        frequencies = _extended(counts, sampled, words, vocabulary, min_count, repetition)
    else:
        frequencies = WordFrequencies.of_counts(counts[counts >= min_count], sampled, repetition)
    return CorpusEstimate(words, frequencies, least, most, sampled, *_spelt(counter, min_count))


def _estimate_encoded(path: Path, min_count: int, words: int | None) -> CorpusEstimate:
    corpus = EncodedCorpus(path)
    letters, counts = _spelt(corpus.counts(), min_count)
    if not len(counts):
        raise ValueError(f"corpus {str(path)!r} has no word {min_count} times; choose a smaller min_count")
    if words is not None and words != corpus.words:
        raise ValueError(f"corpus {str(path)!r} is encoded and has {corpus.words} words, not {words}")
    frequencies = WordFrequencies.of_counts(counts, corpus.words)
    return CorpusEstimate(corpus.words, frequencies, len(counts), len(counts), corpus.words, letters, counts, True)


def _vocabulary_range(pieces: _Pieces, counts: Int64Array, words: int, min_count: int) -> tuple[int, int]:
    """Return from how many to how many words occur `min_count` times among all `words` words.

    Heaps' law says that the distinct words grow as a power b of all words. The last doubling of the sample gives b, for
    all distinct words and for those with `min_count` occurrences. The second grows too fast in a small sample, and its
    law gives the upper end. The lower end is the share of distinct words that has `min_count` occurrences by the first
    law, Γ(m - b) / (Γ(1 - b) Γ(m)).
    """
    half = _counted(random.Random(0).sample(pieces, len(pieces))[: len(pieces) // 2])
    half_counts, sampled, half_words = _as_array(half), int(counts.sum()), half.total()

    def grown(least: int) -> tuple[float, float]:
        now, before = _at_least(counts, least), max(_at_least(half_counts, least), 1)
        power = math.log(max(now, 1) / before) / math.log(sampled / max(half_words, 1))
        power = min(max(power, 0.05), 0.95)
        return now * (words / sampled) ** power, power

    distinct, power = grown(1)
    share = math.exp(math.lgamma(min_count - power) - math.lgamma(1 - power) - math.lgamma(min_count))
    least, most = sorted((distinct * share, grown(min_count)[0]))
    at_least_now = _at_least(counts, min_count)
    return max(round(least), at_least_now), max(round(most), at_least_now)


def _extended(
    counts: Int64Array, sampled: int, words: int, vocabulary: int, min_count: int, repetition: float
) -> WordFrequencies:
    """Return frequencies of a vocabulary of which a sample has the frequent words.

    The rarer words, which a sample does not know, fall as a power of the rank from the rarest known one to `min_count`
    occurrences.
    """
    known = WordFrequencies.of_counts(counts[counts >= max(min_count, 5)], sampled, repetition)
    ranks = np.cumsum(known.words)
    is_inside = ranks <= vocabulary
    known = WordFrequencies(known.words[is_inside], known.shares[is_inside], repetition)
    last = float(ranks[is_inside][-1]) if is_inside.any() else 0.0
    if not last or last >= vocabulary:
        return known
    edges: Float64Array = np.unique(np.rint(np.geomspace(last, vocabulary, 200)))
    middle, lowest = np.sqrt(edges[:-1] * edges[1:]), min(min_count / words, float(known.shares[-1]))
    power = math.log(known.shares[-1] / lowest) / math.log(vocabulary / last)
    rare = known.shares[-1] * (middle / last) ** -power
    return WordFrequencies(
        np.concatenate([known.words, np.diff(edges)]), np.concatenate([known.shares, rare]), repetition
    )


def _repetition_of(pieces: _Pieces, counter: Counter[str], min_count: int) -> float:
    """Return which share of a piece's words counts as drawn independently: see `WordFrequencies`.

    Only words with `min_count` occurrences in all pieces count.
    """
    long = [piece for piece in pieces if len(piece) >= _LEAST_PIECE_WORDS]
    known = {word for word, count in counter.items() if count >= min_count}
    if not long or not known:
        return TEXT_REPETITION
    distinct = sum(len(known.intersection(piece)) for piece in long) / len(long)
    words = sum(map(len, long)) / len(long)
    shares = np.array([counter[word] for word in known]) / counter.total()
    drawn = np.array([float(np.sum(-np.expm1(factor * words * np.log1p(-shares)))) for factor in _REPETITIONS])
    return float(np.interp(distinct, drawn, _REPETITIONS))


def _read_pieces(path: Path) -> tuple[_Pieces, float]:
    """Return the words of pieces of a file, and their share of its bytes."""
    total = path.stat().st_size
    with path.open("rb") as file:
        if total <= _PIECES * _PIECE_BYTES:
            words = file.read().decode("utf-8", "replace").split()
            size = max(-(-len(words) // _PIECES), _LEAST_PIECE_WORDS)
            return [words[first : first + size] for first in range(0, len(words), size)], 1.0
        pieces, read = [], 0
        for number in range(_PIECES):
            file.seek(number * (total - _PIECE_BYTES) // (_PIECES - 1))
            # The first and the last word may be cut.
            data = b"".join(file.read(_PIECE_BYTES).partition(b" ")[2].rpartition(b" ")[:1])
            read += len(data) + 1
            pieces.append(data.decode("utf-8", "replace").split())
        return pieces, read / total


def _spelt(counts: Mapping[str, int], min_count: int) -> tuple[Int64Array, Int64Array]:
    """Return how many letters each word has that occurs `min_count` times, and how often it occurs."""
    found = [(len(word), count) for word, count in counts.items() if count >= min_count]
    letters, of_words = np.array(found, np.int64).reshape(-1, 2).T
    return letters, of_words


def _counted(pieces: _Pieces) -> Counter[str]:
    return Counter(itertools.chain.from_iterable(pieces))


def _as_array(counter: Counter[str]) -> Int64Array:
    return np.fromiter(counter.values(), np.int64, len(counter))


def _at_least(counts: Int64Array, least: int) -> int:
    return int(np.count_nonzero(counts >= least))
