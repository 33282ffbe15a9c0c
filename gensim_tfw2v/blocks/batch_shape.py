"""A vocabulary and a model → how tokens are cut into batches and runs, and which windows tokens have."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Float64Array
from gensim_tfw2v.blocks.batches import BatchShape, Windows


@dataclass(frozen=True)
class Trained:
    """What is trained, as far as its runs and batches depend on it.

    Attributes
    ----------
    kept_counts : ndarray
        How often subsampling is expected to keep each word in an epoch.
    skip_gram, tree : bool
        The model: skip-gram or CBOW, and whether hierarchical softmax is trained.
    flat : bool
        Whether the vocabulary is flat, as `is_flat` says.
    """

    kept_counts: Float64Array
    vector_size: int
    window: int
    negative: int
    skip_gram: bool
    tree: bool
    flat: bool = False

    @property
    def is_small(self) -> bool:
        """Whether the vocabulary is that of a small corpus."""
        return len(self.kept_counts) < tuning.SMALL_VOCABULARY


@dataclass(frozen=True, kw_only=True)
class OwnShape:
    """What the user has chosen."""

    batch_tokens: int | None = None
    run_tokens: int | None = None
    shared_negatives: int | None = None


@dataclass(frozen=True, kw_only=True)
class Stepping:
    """How steps are taken, by which batches may be large or small.

    Attributes
    ----------
    in_runs : bool
        Whether each run moves its rows at once, so that a batch is only what has one learning rate.
    cores : int
        Cores that train batches on the same tables side by side.
    bfloat16_products : bool
        Whether products are in bfloat16 if batches are large enough.
    tiled : bool
        Whether the processor multiplies bfloat16 in tiles.
    starts_slowly : bool
        Whether a device trains that starts an operation slowly, and has no caches that a batch must fit.
    exchanged : int or None
        Batches for which workers and servers exchange messages side by side. Few large ones cost fewer messages.
    adagrad : bool
        Whether Adagrad takes the steps.
    """

    in_runs: bool = False
    cores: int = 1
    bfloat16_products: bool = False
    tiled: bool = False
    starts_slowly: bool = False
    exchanged: int | None = None
    adagrad: bool = False


def choose_batch_shape(trained: Trained, stepping: Stepping = Stepping(), own: OwnShape = OwnShape()) -> BatchShape:
    """Return how to cut tokens into batches and runs.

    All gradients of a batch are computed from the same version of the vectors. So a batch must not hold the most
    frequent word too often, or all words of a small corpus many times. Within these limits larger batches are faster
    until their rows no longer fit the cache. A run is at least as long as the window is wide, so that widening it stays
    cheap. The number of words that a run is compared with fills registers.
    """
    usual_tokens, usual_negatives = _usual_run(trained, stepping, own)
    run_tokens = own.run_tokens or _run_tokens(usual_tokens, trained, stepping)
    batch_tokens = own.batch_tokens
    if batch_tokens is None and stepping.in_runs:
        batch_tokens = _tokens_of_one_rate(trained.kept_counts, run_tokens)
    if batch_tokens is None:
        batch_tokens = _tokens_of_one_version(trained, stepping, run_tokens)
    run_tokens = min(run_tokens, batch_tokens)
    shared_negatives = own.shared_negatives
    if shared_negatives is None:
        targets = run_tokens + (2 * trained.window if trained.skip_gram else 0)  # beside them, in registers
        wanted = run_tokens * usual_negatives * max(1.0, trained.negative / tuning.USUAL_NEGATIVE)
        # Subtracting half a register rounds this to the nearest number of registers.
        shared_negatives = _fill_registers(targets + max(wanted - tuning.REGISTER_NUMBERS / 2, 1)) - targets
    return BatchShape(batch_tokens, run_tokens, shared_negatives)


def _usual_run(trained: Trained, stepping: Stepping, own: OwnShape) -> tuple[int, float]:
    """Return the tokens of a run, and its negatives for each of them."""
    if trained.is_small and trained.skip_gram:
        return tuning.SMALL_SKIP_GRAM_RUN
    if trained.is_small:
        wide = stepping.in_runs and trained.window >= tuning.LEAST_WINDOW_FOR_RUNNING_SUMS
        few_negatives = trained.flat or (wide and _occur_often(trained.kept_counts))
        return tuning.SMALL_CBOW_RUN_OF_FEW_NEGATIVES if few_negatives and not trained.tree else tuning.SMALL_CBOW_RUN
    if not trained.skip_gram:
        return tuning.ADAGRAD_CBOW_RUN if stepping.adagrad and not trained.tree else tuning.CBOW_RUN
    if trained.tree:
        return tuning.SKIP_GRAM_RUN_BESIDE_TREE
    # If the user sets a run, or shortens it by a small batch, it has as many negatives for each token as the usual run.
    has_room = own.run_tokens is None and (own.batch_tokens or math.inf) >= tuning.LONG_VECTOR_RUN_IN_TILES[0]
    in_tiles = stepping.tiled and stepping.bfloat16_products and trained.vector_size >= tuning.LONG_VECTOR
    if in_tiles and has_room:
        return tuning.LONG_VECTOR_RUN_IN_TILES
    return tuning.ADAGRAD_SKIP_GRAM_RUN if stepping.adagrad else tuning.SKIP_GRAM_RUN


def _run_tokens(usual_tokens: int, trained: Trained, stepping: Stepping) -> int:
    """Return the tokens of a run, given those that it usually has with negatives."""
    if trained.negative:
        tokens = _as_long_as_the_window(usual_tokens, trained.window)
    elif not trained.skip_gram:
        tokens = tuning.CBOW_TREE_RUN_TOKENS
    elif stepping.in_runs and trained.is_small and not trained.flat:
        tokens = tuning.SMALL_SKIP_GRAM_TREE_RUN_TOKENS
    else:
        tokens = tuning.SKIP_GRAM_TREE_RUN_TOKENS
    if not stepping.in_runs:
        return tokens
    if not trained.negative and not trained.skip_gram:
        side_by_side = power_of_two_below(tuning.CBOW_TREE_TOKENS_SIDE_BY_SIDE / stepping.cores)
        tokens = max(tokens, min(tuning.LONG_CBOW_TREE_RUN_TOKENS, side_by_side))
    most = power_of_two_below(_tokens_with(tuning.MOST_TOUCHES_OF_RUN, trained.kept_counts))
    return min(tokens, max(tuning.LEAST_RUN_TOKENS, most))


def _tokens_of_one_rate(kept_counts: Float64Array, run_tokens: int) -> int:
    """Return the tokens of a batch whose runs move their rows at once."""
    of_epoch = float(kept_counts.sum()) / tuning.LEAST_RATES
    return max(run_tokens, power_of_two_below(min(max(of_epoch, 1), tuning.MOST_BATCH_TOKENS)))


def _tokens_of_one_version(trained: Trained, stepping: Stepping, run_tokens: int) -> int:
    """Return the tokens of a batch whose gradients are computed from the same version of the vectors."""
    by_negatives = trained.skip_gram and not trained.tree
    exchanged = stepping.exchanged
    limits = _learning_limits(
        trained, tuning.WORDS_PER_BATCH_TOKEN if exchanged is None else tuning.WORDS_PER_EXCHANGED_TOKEN
    )
    if by_negatives and (stepping.starts_slowly or exchanged is not None):
        limits.append(tuning.MOST_DEVICE_BATCH_TOKENS)
    else:
        limits += [tuning.MOST_BATCH_TOKENS, tuning.MOST_BATCH_NUMBERS / trained.vector_size]
    if exchanged is not None:
        limits.append(tuning.MOST_EXCHANGED_TOKENS / exchanged)
    elif by_negatives:
        limits.append(tuning.MOST_TOKENS_SIDE_BY_SIDE / stepping.cores)
    least = max(_least_batch_tokens(trained), run_tokens if trained.negative else 0)
    return max(least, power_of_two_below(min(limits)))


def _as_long_as_the_window(tokens: int, window: int) -> int:
    """Return `tokens`, or more if the window is wider."""
    return tokens if 2 * window <= tokens else min(_fill_registers(2 * window - 1), tuning.MOST_RUN_TOKENS)


def _fill_registers(columns: float) -> int:
    return tuning.REGISTER_NUMBERS * math.ceil(columns / tuning.REGISTER_NUMBERS)


def _least_batch_tokens(trained: Trained) -> int:
    if not trained.tree:
        return tuning.LEAST_BATCH_TOKENS
    return tuning.LEAST_SKIP_GRAM_TREE_TOKENS if trained.skip_gram else tuning.LEAST_CBOW_TREE_TOKENS


def _learning_limits(trained: Trained, words_per_token: int) -> list[float]:
    """Return the limits that learning sets to a batch, each in tokens."""
    counts, words = trained.kept_counts, len(trained.kept_counts)
    tokens = float(counts.sum())
    limits = [_tokens_with(tuning.MOST_TOUCHES, counts)]
    if trained.negative:
        share = _share(words, words_per_token, tuning.CBOW_TOKENS_PER_ROOT_OF_WORDS)
        by_words = words / words_per_token if trained.skip_gram else share
        limits.append(max(by_words, tuning.FLAT_TOKENS_PER_WORD * _effective_words(counts) if trained.flat else 0.0))
    if trained.tree and trained.skip_gram:
        limits.append(_share(tokens, tuning.SKIP_GRAM_TREE_BATCHES, tuning.SKIP_GRAM_TREE_TOKENS_PER_ROOT))
    elif trained.tree:
        limits.append(_share(tokens, tuning.CBOW_TREE_BATCHES, tuning.CBOW_TREE_TOKENS_PER_ROOT))
    return limits


def _tokens_with(touches: float, kept_counts: Float64Array) -> float:
    """Return among how many tokens the most frequent word is expected so many times."""
    return touches * float(kept_counts.sum()) / max(float(np.max(kept_counts, initial=0.0)), 1e-12)


def _share(size: float, parts: int, by_root: float) -> float:
    """Return `size` / `parts`, or `by_root` times the cube root of `size` if that is more, as it is for small sizes."""
    return max(size / parts, by_root * float(np.cbrt(size)))


def power_of_two_below(value: float) -> int:
    """Return the largest power of two that is at most `value`, and at least 1."""
    return 1 << int(np.log2(max(value, 1.0)))


def is_flat(counts: Float64Array) -> bool:
    """Return whether words are about equally frequent and all of them occur often, as nodes of random walks do.

    Then a batch may be larger than one of text with as many words: it has few tokens of the same word, and an epoch
    still has many steps for each word.

    Parameters
    ----------
    counts : ndarray
        How often each word occurs in the corpus.
    """
    words = len(counts)
    is_even = words <= tuning.MOST_WORDS_PER_EFFECTIVE_WORD * _effective_words(counts)
    return is_even and _occur_often(counts)


def _occur_often(counts: Float64Array) -> bool:
    return float(counts.sum()) >= tuning.LEAST_FREQUENT_COUNT * len(counts)


def _effective_words(counts: Float64Array) -> float:
    """Return how many equally frequent words would give as many pairs of tokens with the same word."""
    return float(counts.sum()) ** 2 / max(float(counts @ counts), 1e-12)


def has_frequent_hits(kept_counts: Float64Array, drawn_shares: Float64Array) -> bool:
    """Return whether accidental hits are frequent enough to be masked, as they are in small vocabularies."""
    return float(kept_counts @ drawn_shares) > tuning.RARE_HIT_SHARE * float(kept_counts.sum())


def choose_windows(shrink: bool, tree: bool, words: int, even_contexts: bool = False) -> Windows:
    """Return which words are a token's contexts, in a vocabulary of `words` words.

    `shrink` asks for gensim's random windows. Runs multiply all words within the window anyway, so the mean over all
    windows costs no more than a random one. This does not hold for hierarchical softmax, which trains pair by pair, nor
    for CBOW if `even_contexts` says that running sums are to add contexts. On small corpora CBOW finds neighbours less
    well with means.
    """
    if not shrink:
        return Windows.FIXED
    return Windows.DRAWN if tree or even_contexts or words < tuning.SMALL_VOCABULARY else Windows.MEAN
