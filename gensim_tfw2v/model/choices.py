"""A model and where it trains → the choices made when its training begins: batches, windows, steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from gensim.models import Word2Vec

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Float64Array
from gensim_tfw2v.blocks.batch_shape import (
    OwnShape,
    Stepping,
    Trained,
    choose_batch_shape,
    choose_windows,
    has_frequent_hits,
    is_flat,
)
from gensim_tfw2v.blocks.batches import BatchShape, BlockMaker, Windows
from gensim_tfw2v.blocks.huffman import HuffmanTree
from gensim_tfw2v.blocks.sampling import NegativeSampler, keep_probabilities, kept_counts, word_counts
from gensim_tfw2v.model.documents import concatenates, has_documents, trains_skip_gram
from gensim_tfw2v.model.subwords import word_bags
from gensim_tfw2v.placement.request import Draws, PlacementChoice
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
from gensim_tfw2v.training.state import TrainingChoices


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
    bags, skip_gram = word_bags(model) is not None, trains_skip_gram(model)
    are_rows_summed = bags or has_documents(model)
    in_running_sums = (flat or are_rows_summed) and sums_even_contexts(skip_gram, model.window, are_rows_summed)
    draws_windows = bool(model.shrink_windows) and not concatenates(model)
    windows = choose_windows(draws_windows, bool(model.hs), words, in_running_sums)
    if concatenates(model) and not moves_by_run(choice):
        raise RuntimeError(
            "documents with dm_concat=1 are trained by the package's compiled operations on the CPU, which this "
            "training does not use; leave device out and TFW2V_STEP unset, and see that the package was installed with "
            "a C compiler, or use gensim.models.Doc2Vec"
        )
    # Whether the plain step trains, on a CPU; CPUs of a cluster's workers count as this one. GPUs round to TF32.
    on_plain_cpu = not (_is_on_gpu(choice) or moves_by_run(choice))
    fast_bfloat16 = on_plain_cpu and multiplies_bfloat16()
    shape = _batch_shape(model, kept, choice, flat, fast_bfloat16, tiled=on_plain_cpu and multiplies_tiles())
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
        settings=_step_settings(model, shape, windows, hits, fast_bfloat16, freeze, weighted, bags),
        first_pass=first_pass,
    )


def entropy_of(model: Word2Vec) -> tuple[int, ...]:
    """Return numbers that follow from a model's seed, or fresh ones if it has none."""
    return tuple(np.random.SeedSequence(model.seed).generate_state(4).tolist())


def block_maker(model: Word2Vec, choices: TrainingChoices) -> BlockMaker:
    """Return what makes blocks by the choices for a model."""
    return BlockMaker(
        skip_gram=trains_skip_gram(model),
        window=model.window,
        windows=choices.windows,
        shape=choices.shape,
        keep=keep_probabilities(model.wv, model.sample),
        negatives=NegativeSampler(model.cum_table) if model.negative else None,
        tree=HuffmanTree.of(model.wv) if model.hs else None,
        negative_pool=choices.negative_pool,
        bags=word_bags(model),
    )


def _batch_shape(
    model: Word2Vec, kept: Float64Array, choice: PlacementChoice, flat: bool, fast_bfloat16: bool, tiled: bool
) -> BatchShape:
    trained = Trained(
        kept, model.vector_size, model.window, model.negative, trains_skip_gram(model), bool(model.hs), flat
    )
    stepping = Stepping(
        in_runs=moves_by_run(choice),
        cores=choice.cores,
        bfloat16_products=fast_bfloat16 if model.compute_dtype is None else model.compute_dtype == "bfloat16",
        tiled=tiled,
        starts_slowly=choice.draws is Draws.DEVICE or _is_on_gpu(choice),
        exchanged=choice.exchanged_batches,
        adagrad=model.optimizer == ADAGRAD,
    )
    own = OwnShape(
        batch_tokens=model.batch_tokens, run_tokens=model.run_tokens, shared_negatives=model.shared_negatives
    )
    if concatenates(model) and model.negative:
        own = _of_concatenations(own, model.negative)
    elif has_documents(model) and own.run_tokens is None:
        own = replace(own, run_tokens=tuning.DOCUMENT_RUN_TOKENS)
    return choose_batch_shape(trained, stepping, own)


def _of_concatenations(own: OwnShape, negative: int) -> OwnShape:
    tokens, negatives_for_each = tuning.CONCATENATED_RUN
    tokens = own.run_tokens or tokens
    wanted = tokens * negatives_for_each * max(1.0, negative / tuning.USUAL_NEGATIVE)
    return replace(own, run_tokens=tokens, shared_negatives=own.shared_negatives or round(wanted))


def _is_on_gpu(choice: PlacementChoice) -> bool:
    return choice.device is not None and choice.device.kind == GPU


def moves_by_run(choice: PlacementChoice) -> bool:
    """Return whether each run moves its rows at once, as in the compiled kernel."""
    return choice.uses_kernel and kernel_on(choice.device or THE_CPU).name == COMPILED


def _step_settings(
    model: Word2Vec,
    shape: BatchShape,
    windows: Windows,
    mask_accidental_hits: bool,
    fast_bfloat16: bool,
    freeze: str | None,
    weighted: bool,
    bags: bool,
) -> StepSettings:
    max_step_rates = model.update_bound
    if max_step_rates is None:
        max_step_rates = choose_max_step_rates(trains_skip_gram(model), model.negative)
    compute_dtype = model.compute_dtype
    if compute_dtype is None:
        compute_dtype = choose_compute_dtype(shape.batch_tokens, model.vector_size, fast_bfloat16)
    return StepSettings(
        skip_gram=trains_skip_gram(model),
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
        even_contexts=windows is not Windows.MEAN
        and sums_even_contexts(trains_skip_gram(model), model.window, bags or has_documents(model)),
        optimizer=model.optimizer,
        freeze=freeze,
        weighted=weighted,
        bags=bags,
        documents=has_documents(model),
        concatenated=concatenates(model),
    )
