"""Validation sentences → the pairs on which a loss is measured, drawn once: whole windows, and negatives of their own.

Training shares negatives among the tokens of a run, draws or averages windows and drops frequent words. None of that
is done here, so the loss of the same pairs can be compared between epochs, and between models of one vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import BoolArray, Int32Array, Int64Array, consecutive
from gensim_tfw2v.blocks.bags import Bags
from gensim_tfw2v.blocks.document_blocks import tags_of
from gensim_tfw2v.blocks.huffman import HuffmanTree
from gensim_tfw2v.blocks.sampling import NegativeSampler
from gensim_tfw2v.corpus.fixed_draws import drawn_evenly, key_of
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.native.random_numbers import RandomNumbers

PAIRS, NEGATIVES = 0x70616972, 0x6E656761  # purposes of random numbers


@dataclass(frozen=True)
class PairSettings:
    """The model's settings that decide what its pairs are."""

    skip_gram: bool
    window: int
    negative: int  # negatives of each pair
    sampler: NegativeSampler | None  # None if there are none
    tree: HuffmanTree | None


@dataclass(frozen=True)
class ValidationPairs:
    """Pairs of a hidden vector and a word that it is to predict.

    The hidden vector of pair `p` is made of the input vectors of ``contexts[offsets[p]:offsets[p + 1]]``: in skip-gram
    one word, in CBOW all words of the window. Documents have rows of their own there, or alone.
    """

    contexts: Int32Array  # input rows: ids of words, and behind them those of documents' tags
    offsets: Int64Array  # [pairs + 1]
    targets: Int32Array  # [pairs] ids
    negatives: Int32Array  # [pairs, negative] ids; one that equals its target does not count
    nodes: Int32Array  # tree nodes on the Huffman paths of all targets, one path after the other
    codes: Int32Array  # the branches taken there
    paths: Int64Array  # [pairs + 1] the path of pair p is that from paths[p] to paths[p + 1]

    def __len__(self) -> int:
        return len(self.targets)


class _Windows(NamedTuple):
    """The window of each token, within its sentence: how many words are before and after it."""

    left: Int64Array
    right: Int64Array

    @property
    def sizes(self) -> Int64Array:
        return self.left + self.right


def validation_pairs(sentences: Sentences, settings: PairSettings, entropy: Sequence[int]) -> ValidationPairs:
    """Return the pairs of sentences, or as many of them, drawn evenly, as bound the work of measuring the loss.

    Parameters
    ----------
    sentences : Sentences
        Known words alone.
    entropy : sequence of int
        What the random numbers follow from.
    """
    windows = _windows(sentences.lengths, settings.window)
    sizes = windows.sizes
    if settings.skip_gram:
        every, rows = int(sizes.sum()), 1.0
    else:
        with_contexts = np.flatnonzero(sizes)
        every, rows = len(with_contexts), float(sizes.sum()) / max(1, len(with_contexts))
    chosen = _some_of(every, rows + _rows_of_prediction(sentences, settings), entropy)
    if settings.skip_gram:
        tokens, places = _skip_gram_pairs(chosen, windows)
        contexts, offsets = sentences.ids[tokens], np.arange(len(tokens) + 1, dtype=np.int64)
        targets = sentences.ids[places]
    else:
        tokens = with_contexts[chosen]
        places, offsets = _cbow_contexts(tokens, windows)
        contexts, targets = sentences.ids[places], sentences.ids[tokens]
    negatives = _negatives(len(targets), settings, entropy)
    return ValidationPairs(contexts, offsets, targets, negatives, *_paths(targets, settings.tree))


def document_pairs(
    sentences: Sentences, is_target: BoolArray, first_row: int, settings: PairSettings, entropy: Sequence[int]
) -> ValidationPairs:
    """Return pairs of words of documents, as bounded as those of sentences, and of what is to predict them.

    With a distributed bag of words (`settings.skip_gram`), this is each of the document's tags alone. With distributed
    memory it is all of them together with the words of the window.

    Parameters
    ----------
    sentences : Sentences
        Known words of documents with their tags.
    is_target : ndarray of bool
        Which words are to be predicted. Others are contexts only.
    first_row : int
        The input row of the first tag.
    """
    numbers, tags = tags_of(sentences)
    lists = Bags(tags.indices + np.int32(first_row), tags.offsets).some(numbers)
    documents = np.repeat(np.arange(len(lists), dtype=np.int32), sentences.lengths)
    windows = _windows(sentences.lengths, 0 if settings.skip_gram else settings.window)
    usable = np.flatnonzero(is_target & (lists.sizes[documents] > 0))
    rows = float((windows.sizes + lists.sizes[documents])[usable].sum()) / max(1, len(usable))
    tokens = usable[_some_of(len(usable), rows + _rows_of_prediction(sentences, settings), entropy)]
    own = lists.some(documents[tokens])
    if settings.skip_gram:
        contexts, targets = own.members, np.repeat(sentences.ids[tokens], own.sizes)
        offsets = np.arange(len(targets) + 1, dtype=np.int64)
    else:
        places, of_words = _cbow_contexts(tokens, windows)
        pairs = np.arange(len(tokens))
        of_pairs = np.concatenate([np.repeat(pairs, np.diff(of_words)), np.repeat(pairs, own.sizes)])
        contexts = np.concatenate([sentences.ids[places], own.members])[np.argsort(of_pairs, kind="stable")]
        offsets, targets = of_words + own.offsets, sentences.ids[tokens]
    negatives = _negatives(len(targets), settings, entropy)
    return ValidationPairs(contexts, offsets, targets, negatives, *_paths(targets, settings.tree))


def _some_of(every: int, rows: float, entropy: Sequence[int]) -> Int64Array:
    """Return the numbers of all pairs, or of as many of them as bound the work, each of which reads so many rows."""
    most = max(1, min(tuning.VALIDATION_PAIRS, int(tuning.VALIDATION_ROWS / rows))) if every else 1
    return drawn_evenly(every, most, key_of(entropy, PAIRS))


def _windows(lengths: Int32Array, window: int) -> _Windows:
    """Return the windows of all tokens of sentences with these lengths."""
    places = consecutive(0, lengths)
    after = np.repeat(lengths.astype(np.int64), lengths) - 1 - places
    return _Windows(np.minimum(places, window), np.minimum(after, window))


def _rows_of_prediction(sentences: Sentences, settings: PairSettings) -> float:
    """Return how many rows a hidden vector is compared with, on average."""
    rows = 1.0 + settings.negative if settings.negative else 0.0
    if settings.tree is not None and sentences.ids.size:
        rows += float(settings.tree.path_lengths()[sentences.ids].mean())
    return rows


def _skip_gram_pairs(chosen: Int64Array, windows: _Windows) -> tuple[Int64Array, Int64Array]:
    """Return the places of both words of some pairs, which are numbered token by token."""
    ends = np.cumsum(windows.sizes)
    tokens = np.searchsorted(ends, chosen, side="right")
    return tokens, _context_places(tokens, chosen - (ends - windows.sizes)[tokens], windows)


def _cbow_contexts(tokens: Int64Array, windows: _Windows) -> tuple[Int64Array, Int64Array]:
    """Return the places of all contexts of some tokens, and where those of each token begin and end."""
    sizes = windows.sizes[tokens]
    places = _context_places(np.repeat(tokens, sizes), consecutive(0, sizes), windows)
    return places, np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])


def _context_places(tokens: Int64Array, numbers: Int64Array, windows: _Windows) -> Int64Array:
    """Return the place of a token's context, given the context's number in the window, from left to right."""
    left = windows.left[tokens]
    return np.asarray(tokens - left + numbers + (numbers >= left))


def _negatives(pairs: int, settings: PairSettings, entropy: Sequence[int]) -> Int32Array:
    if not pairs or settings.sampler is None:
        return np.empty((pairs, settings.negative), np.int32)
    random = RandomNumbers.seeded([*entropy, NEGATIVES])
    return settings.sampler.draw(random, pairs * settings.negative).reshape(pairs, settings.negative)


def _paths(targets: Int32Array, tree: HuffmanTree | None) -> tuple[Int32Array, Int32Array, Int64Array]:
    """Return the nodes and codes of the targets' Huffman paths, and where each path begins and ends."""
    if tree is None:
        return np.empty(0, np.int32), np.empty(0, np.int32), np.zeros(len(targets) + 1, np.int64)
    lengths = tree.path_lengths()[targets].astype(np.int64)
    places = consecutive(tree.offsets[targets], lengths)
    paths = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return tree.nodes[places], tree.codes[places].astype(np.int32), paths
