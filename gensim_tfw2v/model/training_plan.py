"""A model's arguments → the plan of a training."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from gensim.models import Word2Vec
from gensim.models.word2vec import MAX_WORDS_IN_BATCH

from gensim_tfw2v.arrays import Float64Array
from gensim_tfw2v.blocks.batch_shape import choose_batch_shape, choose_windows, has_frequent_hits, is_flat
from gensim_tfw2v.blocks.batches import BatchShape, BlockMaker, Windows
from gensim_tfw2v.blocks.huffman import HuffmanTree
from gensim_tfw2v.blocks.sampling import NegativeSampler, keep_probabilities, kept_counts, word_counts
from gensim_tfw2v.model.trained_word2vec import TrainedWord2Vec
from gensim_tfw2v.placement.block_size import in_flight_limits
from gensim_tfw2v.placement.choice import choose_placement
from gensim_tfw2v.placement.designs import DESIGNS
from gensim_tfw2v.placement.request import CorpusSize, Draws, PlacementChoice, TrainingOptions
from gensim_tfw2v.runtime.devices import GPU, THE_CPU
from gensim_tfw2v.runtime.processor import multiplies_bfloat16, multiplies_tiles
from gensim_tfw2v.steps.kernel import COMPILED, kernel_on
from gensim_tfw2v.steps.settings import (
    ADAGRAD,
    StepSettings,
    choose_compute_dtype,
    choose_max_step_rates,
    sums_even_contexts,
)
from gensim_tfw2v.training.choices import TrainingChoices
from gensim_tfw2v.training.plan import TrainingPlan

UNSET_BATCH_WORDS = MAX_WORDS_IN_BATCH  # gensim's default; with it, blocks have the size that is best for them


class _FastProducts(NamedTuple):
    """How the plain step multiplies matrices on the device that trains."""

    bfloat16: bool  # faster than float32
    tiled: bool  # by whole tiles (AMX)

    @classmethod
    def of(cls, choice: PlacementChoice) -> _FastProducts:
        """Return those of the steps where a training is placed; CPUs of a cluster's workers count as this one."""
        on_gpu = choice.device is not None and choice.device.kind == GPU  # which rounds float32 itself, to TF32
        if on_gpu or _moves_by_run(choice):
            return cls(bfloat16=False, tiled=False)
        return cls(multiplies_bfloat16(), multiplies_tiles())


def choices_for(
    model: Word2Vec,
    choice: PlacementChoice,
    total_examples: int | None,
    total_words: int | None,
    fall: float = 1.0,
    freeze: str | None = None,
    weighted: bool = False,
    first_pass: int = 0,
) -> TrainingChoices:
    """Return the choices for a model that is trained from the beginning.

    `freeze` and `weighted` are those of `StepSettings`, and `first_pass` is that of `TrainingChoices`.
    """
    words = len(model.wv)
    counts = word_counts(model.wv)
    kept, flat = kept_counts(counts, keep_probabilities(model.wv, model.sample)), is_flat(kept_counts(counts, None))
    in_running_sums = flat and sums_even_contexts(bool(model.sg), model.window)
    windows = choose_windows(bool(model.shrink_windows), bool(model.hs), words, in_running_sums)
    fast = _FastProducts.of(choice)
    shape = _batch_shape(model, kept, choice, flat, fast)
    hits = bool(model.negative) and has_frequent_hits(kept, NegativeSampler(model.cum_table).shares())
    # A pool as large as the vocabulary would save nothing.
    pool = choice.negative_pool if words > (choice.negative_pool or 0) else None
    return TrainingChoices(
        total_examples=total_examples,
        total_words=total_words,
        fall=fall,
        entropy=entropy_of(model),
        alpha=model.alpha,
        min_alpha=model.min_alpha,
        block_words=choice.block_words,
        negative_pool=pool,
        shape=shape,
        windows=windows,
        settings=replace(_step_settings(model, shape, windows, hits, fast), freeze=freeze, weighted=weighted),
        first_pass=first_pass,
    )


def plan_for(model: Word2Vec, choice: PlacementChoice, choices: TrainingChoices) -> TrainingPlan:
    """Return the plan of a training with these choices."""
    return TrainingPlan(TrainedWord2Vec(model), choice, choices, _block_maker(model, choices))


def entropy_of(model: Word2Vec) -> tuple[int, ...]:
    """Return numbers that follow from a model's seed, or fresh ones if it has none."""
    return tuple(np.random.SeedSequence(model.seed).generate_state(4).tolist())


def fall_within_epoch(model: Word2Vec, from_file: bool, end_is_chosen: bool) -> float:
    """Return how far the learning rate falls within an epoch, as a share of an even fall to `min_alpha`.

    When gensim trains from a file, each thread counts only its own words, as if they were the words of all threads. A
    reproducible training must not depend on the number of threads. With Adagrad an even fall scores higher.
    """
    is_asked_for = model.schedule == "linear" or model.reproducible or end_is_chosen
    falls_evenly = is_asked_for or model.optimizer == ADAGRAD or not from_file
    return 1.0 if falls_evenly else 1.0 / model.workers


def placement_for(
    model: Word2Vec,
    cluster: Any,
    total_words: int | None,
    choices: TrainingChoices | None = None,
    is_encoded: bool = False,
) -> PlacementChoice:
    """Return where to train a model: in this process if `cluster` is None, or on the cluster, which it connects to.

    A resumed training has its `choices` already, including the size of its blocks. `is_encoded` says whether workers
    read the corpus themselves.
    """
    size = CorpusSize(
        total_words=int(total_words or model.corpus_total_words or 0),
        epochs=model.epochs,
        batch_words=None if model.batch_words == UNSET_BATCH_WORDS else model.batch_words,
        chunk_words=None if choices is None else choices.block_words,
        is_encoded=is_encoded,
    )
    options = TrainingOptions(
        distribution=model.distribution,
        of_design={name: getattr(model, name) for name in DESIGNS[model.distribution].arguments},
        workers=model.workers,
        skip_gram=bool(model.sg),
        tree=bool(model.hs),
        negative=model.negative,
        device=model.device,
        seed=model.seed,
        reproducible=bool(model.reproducible),
        timeout=model.cluster_timeout,
        dtype=model.cluster_dtype,
        allow_network=bool(model.allow_network),
    )
    limits = in_flight_limits(len(model.wv), options.skip_gram, options.tree, size.epochs)
    return choose_placement(cluster, size, limits, options)


def _block_maker(model: Word2Vec, choices: TrainingChoices) -> BlockMaker:
    return BlockMaker(
        skip_gram=bool(model.sg),
        window=model.window,
        windows=choices.windows,
        shape=choices.shape,
        keep=keep_probabilities(model.wv, model.sample),
        negatives=NegativeSampler(model.cum_table) if model.negative else None,
        tree=HuffmanTree.of(model.wv) if model.hs else None,
        negative_pool=choices.negative_pool,
    )


def _batch_shape(
    model: Word2Vec, kept: Float64Array, choice: PlacementChoice, flat: bool, fast: _FastProducts
) -> BatchShape:
    return choose_batch_shape(
        kept,
        model.vector_size,
        model.window,
        model.negative,
        bool(model.sg),
        bool(model.hs),
        model.batch_tokens,
        model.run_tokens,
        model.shared_negatives,
        bfloat16_products=fast.bfloat16 if model.compute_dtype is None else model.compute_dtype == "bfloat16",
        tiled=fast.tiled,
        cores=choice.cores,
        flat=flat,
        starts_slowly=choice.draws is Draws.DEVICE or (choice.device is not None and choice.device.kind == GPU),
        exchanged=choice.exchanged_batches,
        in_runs=_moves_by_run(choice),
    )


def _moves_by_run(choice: PlacementChoice) -> bool:
    """Return whether each run moves its rows at once, as in the compiled kernel."""
    return choice.uses_kernel and kernel_on(choice.device or THE_CPU).name == COMPILED


def _step_settings(
    model: Word2Vec, shape: BatchShape, windows: Windows, mask_accidental_hits: bool, fast: _FastProducts
) -> StepSettings:
    max_step_rates = model.update_bound
    if max_step_rates is None:
        max_step_rates = choose_max_step_rates(bool(model.sg), model.negative)
    compute_dtype = model.compute_dtype
    if compute_dtype is None:
        compute_dtype = choose_compute_dtype(shape.batch_tokens, model.vector_size, fast.bfloat16)
    return StepSettings(
        skip_gram=bool(model.sg),
        mean_context=bool(model.cbow_mean),
        window=model.window,
        run_tokens=shape.run_tokens,
        negative=model.negative,
        shared_negatives=shape.shared_negatives,
        hierarchical_softmax=bool(model.hs),
        mask_accidental_hits=mask_accidental_hits,
        max_step=model.alpha * max_step_rates,
        max_step_rates=max_step_rates,  # the rate may rise above `alpha`: to `min_alpha`, or as a callback sets it
        compute_dtype=compute_dtype,
        mean_windows=windows is Windows.MEAN,
        even_contexts=windows is not Windows.MEAN and sums_even_contexts(bool(model.sg), model.window),
        optimizer=model.optimizer,
    )
