"""The functions of this package's C sources in NumPy, for machines on which they are not compiled.

Each takes the arrays and numbers that the C function takes, writes the same numbers, and returns the same number: of
what it has found, or of an error. The same state of random numbers gives the same draws.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.arrays import BoolArray, Float32Array, Float64Array, Int32Array, Int64Array, UInt8Array, consecutive
from gensim_tfw2v.native.array_checks import (
    LARGEST,
    LONGEST,
    NO_WORD,
    WRONG_LENGTHS,
    WRONG_SIZES,
    are_below,
    are_lengths,
)
from gensim_tfw2v.native.huffman_in_numpy import copy_paths, join_rarest, number_words, path_offsets
from gensim_tfw2v.native.random_numbers import RandomNumbers, numpys_generator
from gensim_tfw2v.native.tokenize_in_numpy import tokenize
from gensim_tfw2v.native.walks_in_numpy import add_weights, draw_walks, group_edges, turn_edges

_WORD_BYTES = 8


# -- checksums.c -------------------------------------------------------------------------------------------------------


def page_checksums(data: UInt8Array, page_bytes: int, checksums: npt.NDArray[np.uint64]) -> int:
    """Write Fletcher's two sums of each page."""
    if page_bytes < _WORD_BYTES or page_bytes % _WORD_BYTES:
        return WRONG_SIZES
    pages = -(-data.size // page_bytes)
    if checksums.size != 2 * pages:
        return WRONG_SIZES
    whole = np.zeros(pages * page_bytes, np.uint8)
    whole[: data.size] = data
    words = whole.view("<u8").reshape(pages, page_bytes // _WORD_BYTES)
    numbers = np.arange(1, words.shape[1] + 1, dtype=np.uint64)
    found = checksums.reshape(pages, 2)
    found[:, 0] = ~words.sum(axis=1, dtype=np.uint64)
    found[:, 1] = ~(words * numbers).sum(axis=1, dtype=np.uint64)
    return 0


# -- sentences.c -------------------------------------------------------------------------------------------------------


def extremes(values: Int32Array, found: Int64Array) -> int:
    """Write the least and the largest integer, and the sum."""
    if found.size != 3:
        return WRONG_SIZES
    found[:] = (values.min(), values.max(), values.sum(dtype=np.int64)) if values.size else 0
    return 0


def count_words(ids: Int32Array, counts: Int64Array) -> int:
    """Add the occurrences of words to their counts."""
    if not are_below(counts.size, ids):
        return NO_WORD
    found = np.bincount(ids)
    counts[: found.size] += found
    return 0


def renumber(ids: Int32Array, table: Int32Array, numbers: Int32Array) -> int:
    """Write the numbers that a table has for ids."""
    if numbers.size != ids.size:
        return WRONG_SIZES
    if not are_below(table.size, ids):
        return NO_WORD
    table.take(ids, out=numbers, mode="clip")  # which skips another check
    return 0


def _refusal(
    ids: Int32Array,
    lengths: Int32Array,
    words: int | None,
    kept_ids: Int32Array,
    kept_lengths: Int32Array,
    sentences: Int64Array,
    numbers: Int32Array | None,
) -> int:
    """Return the number of an error if sentences have no room, or ids that are not below `words`; otherwise 0."""
    are_short = ids.size <= LONGEST and lengths.size <= LONGEST
    have_room = kept_ids.size >= ids.size and kept_lengths.size >= lengths.size and sentences.size == 1
    if not are_short or not have_room or (numbers is not None and numbers.size < lengths.size):
        return WRONG_SIZES
    if not are_lengths(ids.size, lengths):
        return WRONG_LENGTHS
    if words is not None and not are_below(words, ids):
        return NO_WORD
    return 0


def _write_chosen(
    chosen: BoolArray,
    ids: Int32Array,
    lengths: Int32Array,
    kept_ids: Int32Array,
    kept_lengths: Int32Array,
    sentences: Int64Array,
    numbers: Int32Array | None,
) -> int:
    """Write the sentences with the chosen words alone, without those that have none, and their numbers."""
    words = int(np.count_nonzero(chosen))
    kept_ids[:words] = ids[chosen]
    before = np.concatenate([[0], np.cumsum(chosen, dtype=np.int64)])  # chosen words before each word
    ends = np.cumsum(lengths, dtype=np.int64)
    of_sentences = before[ends] - before[ends - lengths]
    if numbers is not None:
        found = np.flatnonzero(of_sentences)
        numbers[: found.size] = found
    of_sentences = of_sentences[of_sentences > 0]
    kept_lengths[: of_sentences.size] = of_sentences
    sentences[0] = of_sentences.size
    return words


def subsample(
    ids: Int32Array,
    lengths: Int32Array,
    keep: Float32Array,
    random: RandomNumbers,
    kept_ids: Int32Array,
    kept_lengths: Int32Array,
    sentences: Int64Array,
    numbers: Int32Array | None,
) -> int:
    """Write the sentences with each word kept at its probability."""
    kept = kept_ids, kept_lengths, sentences, numbers
    if refusal := _refusal(ids, lengths, keep.size, *kept):
        return refusal
    with numpys_generator(random) as generator:
        chosen = generator.random(ids.size, dtype=np.float32) < keep[ids]
    return _write_chosen(chosen, ids, lengths, *kept)


def known_words(
    ids: Int32Array,
    lengths: Int32Array,
    table: Int32Array | None,
    known_ids: Int32Array,
    known_lengths: Int32Array,
    sentences: Int64Array,
    numbers: Int32Array | None,
) -> int:
    """Write the sentences without unknown words, by the ids that the table has for ids."""
    kept = known_ids, known_lengths, sentences, numbers
    if refusal := _refusal(ids, lengths, None if table is None else table.size, *kept):
        return refusal
    found = ids if table is None else table[ids]
    return _write_chosen(found >= 0, found, lengths, *kept)


# -- windows.c ---------------------------------------------------------------------------------------------------------


def draw_windows(
    lengths: Int32Array,
    tokens: int,
    window: int,
    shrink: int,
    random: RandomNumbers,
    left: Int32Array,
    right: Int32Array,
) -> int:
    """Write the numbers of contexts to the left and right of each token; return the largest."""
    is_window = bool(shrink) <= window <= LARGEST
    if not is_window or tokens > LONGEST or left.size < tokens or right.size != left.size:
        return WRONG_SIZES
    if not are_lengths(tokens, lengths):
        return WRONG_LENGTHS
    before = consecutive(0, lengths)
    after = np.repeat(lengths.astype(np.int64), lengths) - before - 1
    radius: Any = window
    if shrink:
        with numpys_generator(random) as generator:
            radius = generator.integers(1, window + 1, tokens, dtype=np.int32)
    for side, reach in ((left, before), (right, after)):
        side[:tokens] = np.minimum(radius, reach)
        side[tokens:] = 0
    return int(max(left.max(initial=0), right.max(initial=0)))


def count_pairs(left: Int32Array, right: Int32Array, expected: Float32Array | None, pairs: Float64Array) -> int:
    """Write the number of pairs of each batch."""
    if not pairs.size or left.size % pairs.size or right.size != left.size:
        return WRONG_SIZES
    if expected is None:
        of_tokens: npt.NDArray[Any] = (left | right) != 0
    elif are_below(expected.size, left) and are_below(expected.size, right):
        of_tokens = expected[left] + expected[right]
    else:
        return WRONG_SIZES
    pairs[:] = of_tokens.reshape(pairs.size, -1).sum(axis=1, dtype=np.float64)
    return 0


# -- negatives.c -------------------------------------------------------------------------------------------------------


def draw_negatives(cumulative: npt.NDArray[np.uint32], pool: int, random: RandomNumbers, drawn: Int32Array) -> int:
    """Write drawn words, one from each of as many slices of the distribution as there are draws, in random order."""
    is_short = cumulative.size <= LONGEST and drawn.size <= LONGEST
    if not cumulative.size or not drawn.size or not is_short or pool < 1:
        return WRONG_SIZES
    draws = min(pool, drawn.size)
    with numpys_generator(random) as generator:
        places = (np.arange(draws) + generator.random(draws)) * (float(cumulative[-1]) / draws)
        words = np.searchsorted(cumulative, places.astype(np.uint32)).astype(np.int32)
        words = np.minimum(words, np.int32(cumulative.size - 1))
        generator.shuffle(words)
        drawn[:] = words if drawn.size == draws else words[generator.integers(0, pool, drawn.size, dtype=np.int32)]
    return 0


# -- runs.c ------------------------------------------------------------------------------------------------------------


def pad(values: Int32Array, padded: Int32Array) -> int:
    """Write values, and zeros after the last one."""
    if padded.size < values.size:
        return WRONG_SIZES
    padded[: values.size] = values
    padded[values.size :] = 0
    return 0


def widen(
    values: Int32Array, runs: int, run_tokens: int, window: int, negatives: Int32Array | None, wide: Int32Array
) -> int:
    """Write the values of widened runs, each with the run's negatives behind them if there are any."""
    drawn = 0 if negatives is None else negatives.size
    is_grid = 1 <= runs <= LONGEST and 1 <= run_tokens <= LONGEST and 0 <= window <= LARGEST
    if not is_grid or not 1 <= values.size <= LONGEST or drawn % runs or wide.size % runs:
        return WRONG_SIZES
    places = run_tokens + 2 * window
    if wide.size // runs != places + drawn // runs:
        return WRONG_SIZES
    of_runs = wide.reshape(runs, -1)
    line = np.arange(-window, run_tokens + window) + run_tokens * np.arange(runs)[:, None]
    of_runs[:, :places] = values[np.clip(line, 0, values.size - 1)]
    if negatives is not None:
        of_runs[:, places:] = negatives.reshape(runs, -1)
    return 0


# -- ngrams.c ----------------------------------------------------------------------------------------------------------

_HASH_START, _HASH_FACTOR = 2166136261, 16777619


def hash_ngrams(
    texts: UInt8Array,
    ends: Int64Array,
    least: int,
    most: int,
    bucket: int,
    offsets: Int64Array,
    buckets: Int32Array | None,
) -> int:
    """Write where the buckets of each word's n-grams begin, and the buckets if there is room; return their number."""
    bounds = np.concatenate([[0], ends, [texts.size]])
    if offsets.size != ends.size or not ends.size or not 1 <= bucket <= LARGEST or (np.diff(bounds) < 0).any():
        return WRONG_SIZES
    found: list[int] = []
    for word, (first, end) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)):
        offsets[word] = len(found)
        found += _hashes_of(texts[first:end].tolist(), least, most, bucket)
    offsets[-1] = len(found)
    if buckets is not None:
        if buckets.size < len(found):
            return WRONG_SIZES
        buckets[: len(found)] = found
    return len(found)


def _hashes_of(word: list[int], least: int, most: int, bucket: int) -> list[int]:
    begins = [place for place, byte in enumerate(word) if byte & 0xC0 != 0x80] + [len(word)]
    found = []
    for number, begin in enumerate(begins[:-1]):
        value = _HASH_START
        for length, (at, end) in enumerate(pairwise(begins[number : number + most + 1]), 1):
            for byte in word[at:end]:
                signed = byte - 256 if byte > 127 else byte
                value = ((value ^ (signed & 0xFFFFFFFF)) * _HASH_FACTOR) & 0xFFFFFFFF
            if length >= least and not (length == 1 and (begin == 0 or end == len(word))):
                found.append(value % bucket)
    return found


FUNCTIONS: dict[str, Callable[..., int]] = {
    function.__name__: function
    for function in (
        page_checksums,
        extremes,
        count_words,
        renumber,
        known_words,
        subsample,
        draw_windows,
        count_pairs,
        draw_negatives,
        pad,
        widen,
        number_words,
        path_offsets,
        copy_paths,
        hash_ngrams,
        join_rarest,
        group_edges,
        turn_edges,
        add_weights,
        draw_walks,
        tokenize,
    )
}
