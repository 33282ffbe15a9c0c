"""Batch sizes that suit the vocabulary, the vector size and the window, for users who set none."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.blocks.batches import BatchShape, Windows

_MOST_TOUCHES = 32.0  # expected turns of the most frequent word in a batch
_WORDS_PER_BATCH_TOKEN = 16  # a small vocabulary comes with a small corpus, which needs its updates in many small steps
_CBOW_TOKENS_A_ROOT_OF_WORDS = 11.0  # fewer steps do for CBOW on small corpora: see `_share`
_MOST_TOKENS = 1024
_MOST_NUMBERS = 1 << 18  # of a batch's vectors, so that the copies a step makes of them stay in the cache
_LEAST_BATCH_TOKENS = 64
# Every target of a batch passes the root of the Huffman tree, so an epoch must take at least so many steps; skip-gram
# has a target a pair, CBOW one a token.
_SKIP_GRAM_TREE_BATCHES, _CBOW_TREE_BATCHES = 4000, 2000
_SKIP_GRAM_TOKENS_A_ROOT, _CBOW_TOKENS_A_ROOT = 0.6, 4.0  # and likewise through the tree
_LEAST_SKIP_GRAM_TREE_TOKENS, _LEAST_CBOW_TREE_TOKENS = 8, 16
_USUAL_NEGATIVE = 5  # draws a pair
_SMALL_VOCABULARY = 10_000  # words, below which a corpus trains in seconds and can afford more negatives
_TIES_VOCABULARY = 25_000  # words, below which a tree with its ties drawn scores no higher
_MOST_RUN_TOKENS = 512
_REGISTER = 16  # float32: oneDNN's small products are a third slower when their columns do not fill registers
_RARE_HIT = 2e-3  # share of negatives hitting their own target below which sparing them changes nothing
# Longest steps, in learning rates, the second of skip-gram that is told all by the tree. Scores say so.
_UPDATE_BOUND, _TREE_UPDATE_BOUND = 20.0, 7.0
# Converting numbers costs operations that small products do not earn back: those of batches with fewer tokens, unless
# longer vectors make up for that.
_LEAST_HALF_PRODUCT_TOKENS, _USUAL_VECTOR_SIZE = 512, 100
_LEAST_BLOCK_WORDS = 10_000
_MOST_BLOCK_WORDS = 131_072
_MOST_LOCAL_BLOCK_WORDS, _MOST_LOCAL_TREE_BLOCK_WORDS = 65_536, 32_768  # larger ones take more memory for little speed
# Words in flight that do not know of each other's changes: this share of an epoch, between these limits.
_IN_FLIGHT_SHARE, _LEAST_IN_FLIGHT, _MOST_IN_FLIGHT = 1 / 64, 131_072, 262_144
# Where blocks share the changes of common rows, that goes for their parts; blocks are together at most this share.
_SHARING_SHARE, _MOST_PARTS, _COMMON_ROWS = 1 / 8, 8, 512
_BLOCKS_PER_WORKER = 4  # so that workers finish an epoch together
_BLOCKS_FOR_OVERLAP = 256  # blocks of an epoch for each worker


class _Run(NamedTuple):
    """Consecutive tokens that share contexts and negatives: more of them move fewer rows, with more arithmetic."""

    tokens: int  # at least
    negatives: float  # a token, enough to stand for the usual draws


_SKIP_GRAM_RUN, _CBOW_RUN = _Run(32, 11 / 16), _Run(32, 1 / 2)
# With the tree as well, whose windows are drawn: longer ones are faster, and score a little less.
_SKIP_GRAM_RUN_BESIDE_TREE = _Run(16, 11 / 8)
# The longer the vectors, the more their rows cost beside what is done pair by pair: longer runs have fewer rows.
_LONG_VECTOR = 300  # numbers
_TILED_LONG_VECTOR_RUN = _Run(64, 11 / 32)
_SMALL_SKIP_GRAM_RUN, _SMALL_CBOW_RUN = _Run(16, 3), _Run(16, 2)
# Where there are no negatives to share: gradients of a place in two runs are summed once more.
_SKIP_GRAM_TREE_RUN_TOKENS, _CBOW_TREE_RUN_TOKENS = 16, 64


def choose_batch_shape(
    kept_counts: npt.NDArray[np.float64],
    vector_size: int,
    window: int,
    negative: int,
    skip_gram: bool,
    tree: bool,
    batch_tokens: int | None = None,
    run_tokens: int | None = None,
    shared_negatives: int | None = None,
    half_products: bool = False,
    tiled: bool = False,
) -> BatchShape:
    """Return how to cut tokens into batches and runs.

    A batch's gradients are all taken at the same version of the tables, so it must not hold the most frequent word
    too many times, nor many times over the vocabulary of a small corpus; beyond that, larger is faster until its rows
    leave the cache. A run is at least as long as the window is wide, so that widening it stays cheap, and what it is
    compared with fills registers.

    Parameters
    ----------
    kept_counts : ndarray
        How often subsampling is expected to keep each word in an epoch.
    skip_gram, tree : bool
        The model: skip-gram or CBOW, and whether hierarchical softmax is trained.
    batch_tokens, run_tokens, shared_negatives : int, optional
        The user's own choice.
    half_products : bool
        Whether products are of bfloat16 if batches are large enough.
    tiled : bool
        Whether the processor multiplies those in tiles.
    """
    # A user's own run has negatives in proportion to the usual one's, as has one that a user's own batch cuts short.
    has_room = run_tokens is None and (batch_tokens is None or batch_tokens >= _TILED_LONG_VECTOR_RUN.tokens)
    long_in_tiles = tiled and half_products and vector_size >= _LONG_VECTOR and has_room
    run = _usual_run(skip_gram, tree, len(kept_counts) < _SMALL_VOCABULARY, long_in_tiles)
    if run_tokens is None:
        tree_run_tokens = _SKIP_GRAM_TREE_RUN_TOKENS if skip_gram else _CBOW_TREE_RUN_TOKENS
        run_tokens = _as_long_as_the_window(run.tokens, window) if negative else tree_run_tokens
    if batch_tokens is None:
        limits = _batch_limits(kept_counts, vector_size, negative, skip_gram, tree)
        least = _LEAST_BATCH_TOKENS
        if tree:
            least = _LEAST_SKIP_GRAM_TREE_TOKENS if skip_gram else _LEAST_CBOW_TREE_TOKENS
        if negative:
            least = max(least, run_tokens)
        batch_tokens = max(least, _power_of_two_below(min(limits)))
    run_tokens = min(run_tokens, batch_tokens)
    if shared_negatives is None:
        targets = run_tokens + (2 * window if skip_gram else 0)
        wanted = run_tokens * run.negatives * max(1.0, negative / _USUAL_NEGATIVE)
        # Filling up rounds to the nearest number of registers.
        shared_negatives = _fill_registers(targets + max(wanted - _REGISTER / 2, 1)) - targets
    return BatchShape(batch_tokens, run_tokens, shared_negatives)


def _usual_run(skip_gram: bool, tree: bool, small_vocabulary: bool, long_in_tiles: bool) -> _Run:
    """Return the run for a model, a vocabulary, and whether its products are of long vectors and made in tiles."""
    if small_vocabulary:
        return _SMALL_SKIP_GRAM_RUN if skip_gram else _SMALL_CBOW_RUN
    if not skip_gram:
        return _CBOW_RUN
    if tree:
        return _SKIP_GRAM_RUN_BESIDE_TREE
    return _TILED_LONG_VECTOR_RUN if long_in_tiles else _SKIP_GRAM_RUN


def _as_long_as_the_window(tokens: int, window: int) -> int:
    """Return so many tokens, or more where the window is wider."""
    return tokens if 2 * window <= tokens else min(_fill_registers(2 * window - 1), _MOST_RUN_TOKENS)


def _fill_registers(columns: float) -> int:
    return _REGISTER * math.ceil(columns / _REGISTER)


def _batch_limits(
    kept_counts: npt.NDArray[np.float64],
    vector_size: int,
    negative: int,
    skip_gram: bool,
    tree: bool,
) -> list[float]:
    """Return what limits a batch, each in tokens."""
    tokens = float(kept_counts.sum())
    limits = [
        _MOST_TOKENS,
        _MOST_NUMBERS / vector_size,
        _MOST_TOUCHES * tokens / max(float(np.max(kept_counts, initial=0.0)), 1e-12),
    ]
    if negative:
        words = len(kept_counts)
        share = _share(words, _WORDS_PER_BATCH_TOKEN, _CBOW_TOKENS_A_ROOT_OF_WORDS)
        limits.append(words / _WORDS_PER_BATCH_TOKEN if skip_gram else share)
    if tree and skip_gram:
        limits.append(_share(tokens, _SKIP_GRAM_TREE_BATCHES, _SKIP_GRAM_TOKENS_A_ROOT))
    elif tree:
        limits.append(_share(tokens, _CBOW_TREE_BATCHES, _CBOW_TOKENS_A_ROOT))
    return limits


def _share(size: float, parts: int, by_root: float) -> float:
    """Return one of so many parts of `size`, or for small sizes so many times its cube root, which is larger there."""
    return max(size / parts, by_root * float(np.cbrt(size)))


def _power_of_two_below(value: float) -> int:
    return 1 << int(np.log2(max(value, 1.0)))


def negatives_hit_targets(kept_counts: npt.NDArray[np.float64], drawn_shares: npt.NDArray[np.float64]) -> bool:
    """Return whether negatives hit their own targets often enough, as in small vocabularies, to be worth masking."""
    return float(kept_counts @ drawn_shares) > _RARE_HIT * float(kept_counts.sum())


def choose_update_bound(skip_gram: bool, negative: int) -> float:
    """Return the longest step that a batch may move a vector by, in learning rates."""
    return _TREE_UPDATE_BOUND if skip_gram and not negative else _UPDATE_BOUND


def choose_compute_dtype(batch_tokens: int, vector_size: int, fast_bfloat16: bool) -> str:
    """Return which numbers products of a batch's vectors are to be of, by TensorFlow's name.

    Parameters
    ----------
    fast_bfloat16 : bool
        Whether the processor multiplies those faster.
    """
    return "bfloat16" if fast_bfloat16 and _halves_pay(batch_tokens, vector_size) else "float32"


def _halves_pay(batch_tokens: int, vector_size: int) -> bool:
    """Return whether batches are large enough for products of bfloat16."""
    return batch_tokens * max(vector_size, _USUAL_VECTOR_SIZE) >= _LEAST_HALF_PRODUCT_TOKENS * _USUAL_VECTOR_SIZE


def choose_windows(shrink: bool, tree: bool, words: int) -> Windows:
    """Return which words are a token's contexts, in a vocabulary of so many, if `shrink` asks for windows as gensim's.

    Runs multiply all words within the window anyway, so that the mean of all draws costs no more than one of them. The
    tree's pairs are spelt out instead. On small corpora CBOW finds neighbours less well by means.
    """
    if not shrink:
        return Windows.FIXED
    return Windows.DRAWN if tree or words < _SMALL_VOCABULARY else Windows.MEAN


def draws_ties(words: int) -> bool:
    """Return whether words of equal counts are joined in the Huffman tree in a drawn order, in so many words."""
    return words >= _TIES_VOCABULARY


def choose_block_words(
    total_words: int,
    workers: int,
    batch_words: int | None,
    in_flight: int = 1,
    share_rows: bool = False,
    most_words: int = _MOST_BLOCK_WORDS,
) -> int:
    """Return how many raw words a worker takes at a time.

    Parameters
    ----------
    total_words : int
        Raw words of the corpus, 0 if not known.
    batch_words : int, optional
        The user's own choice.
    in_flight : int
        Blocks that are trained without knowing of each other's changes: the more, the smaller.
    share_rows : bool
        Whether several in flight are to know of each other's changes of common rows.
    most_words : int
        What memory allows.
    """
    if batch_words is not None:
        return batch_words
    unshared = _words_in_flight(total_words) // in_flight
    most = min(unshared, most_words)
    if share_rows and in_flight > 1:
        of_epoch = int(total_words * _SHARING_SHARE) // in_flight
        most = max(most, min(_MOST_PARTS * unshared, of_epoch, most_words))
    words = max(1, min(max(total_words // (_BLOCKS_PER_WORKER * workers), _LEAST_BLOCK_WORDS), most))
    if 1 < in_flight <= total_words // words:
        # As many for each, so that none is left over which all others would wait for at the end of an epoch.
        rounds = math.ceil(total_words / (words * in_flight))
        words = math.ceil(total_words / (rounds * in_flight))
    return words


def most_local_block_words(tree: bool) -> int:
    """Return how many raw words a thread of one process takes at a time at most, if the tree is trained or not."""
    return _MOST_LOCAL_TREE_BLOCK_WORDS if tree else _MOST_LOCAL_BLOCK_WORDS


def _words_in_flight(total_words: int) -> int:
    """Return how many words at most are trained at a time without knowing of each other's changes."""
    return min(max(int(total_words * _IN_FLIGHT_SHARE), _LEAST_IN_FLIGHT), _MOST_IN_FLIGHT)


def can_share_rows(words: int, skip_gram: bool, tree: bool) -> bool:
    """Return whether blocks in flight can share the changes of common rows, in a vocabulary of so many words.

    CBOW through the tree scores less by it.
    """
    return words >= _SMALL_VOCABULARY and (skip_gram or not tree)


def choose_sharing(block_words: int, total_words: int, in_flight: int, share_rows: bool) -> tuple[int, int]:
    """Return after how many parts of a block its changes of common rows are shared, and how many those are."""
    parts = min(round(block_words * in_flight / _words_in_flight(total_words)), _MOST_PARTS)
    return (parts, _COMMON_ROWS) if share_rows and in_flight > 1 and parts > 1 else (1, 0)


def blocks_overlap(total_words: int, block_words: int, workers: int) -> bool:
    """Return whether workers of a cluster are to pull a block's rows while they train the one before it.

    That doubles the blocks that do not know of each other's changes, for which a corpus has to have enough of them.
    """
    return total_words // block_words >= _BLOCKS_FOR_OVERLAP * workers
