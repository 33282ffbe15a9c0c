"""A model's arguments → what one training does: where, with which steps, on which blocks, at which rates."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from gensim.models.word2vec import MAX_WORDS_IN_BATCH

from gensim_tfw2v.arrays import Float64Array
from gensim_tfw2v.blocks.batch_shape import choose_batch_shape, choose_windows, has_frequent_hits
from gensim_tfw2v.blocks.batches import BatchShape, BlockMaker, Windows
from gensim_tfw2v.blocks.huffman import HuffmanTree
from gensim_tfw2v.blocks.sampling import NegativeSampler, keep_probabilities, kept_counts, word_counts
from gensim_tfw2v.corpus.sources import Source
from gensim_tfw2v.model.arguments import FIXED_IN_TRAINING
from gensim_tfw2v.placement.block_size import in_flight_limits
from gensim_tfw2v.placement.choice import choose_placement
from gensim_tfw2v.placement.contract import Placement
from gensim_tfw2v.placement.request import ClusterOptions, CorpusSize, PlacementChoice
from gensim_tfw2v.runtime.processor import multiplies_bfloat16, multiplies_tiles
from gensim_tfw2v.steps.settings import StepSettings, choose_compute_dtype, choose_max_step_rates
from gensim_tfw2v.training.epoch import EpochPlan

logger = logging.getLogger(__name__)

UNSET_BATCH_WORDS = MAX_WORDS_IN_BATCH  # gensim's default, with which blocks have the size that suits them


@dataclass(frozen=True)
class TrainingChoices:
    """What is chosen when a training begins, and stays as it is if the training is resumed elsewhere."""

    total_examples: int | None  # sentences of an epoch
    total_words: int | None  # raw words of an epoch
    fall: float  # what `fall_within_epoch` returns
    entropy: tuple[int, ...]  # what `entropy_of` returns
    alpha: float  # the model's rates at the beginning; callbacks may change them
    min_alpha: float
    block_words: int
    negative_pool: int | None
    shape: BatchShape
    windows: Windows
    settings: StepSettings

    @classmethod
    def of(
        cls, model: Any, choice: PlacementChoice, total_examples: int | None, total_words: int | None, fall: float = 1.0
    ) -> TrainingChoices:
        """Return the choices for a model that is trained from the beginning."""
        words = len(model.wv)
        kept = kept_counts(word_counts(model.wv), keep_probabilities(model.wv, model.sample))
        windows = choose_windows(bool(model.shrink_windows), bool(model.hs), words)
        shape = _batch_shape(model, kept)
        hits = bool(model.negative) and has_frequent_hits(kept, NegativeSampler(model.cum_table).shares())
        # A pool as large as the vocabulary would save nothing.
        pool = choice.negative_pool if words > (choice.negative_pool or 0) else None
        return cls(
            total_examples,
            total_words,
            fall,
            entropy_of(model),
            model.alpha,
            model.min_alpha,
            choice.block_words,
            pool,
            shape,
            windows,
            _step_settings(model, shape, windows, hits),
        )

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> TrainingChoices:
        """Return the choices of which JSON has the fields."""
        return cls(
            **{
                **found,
                "entropy": tuple(found["entropy"]),
                "shape": BatchShape(**found["shape"]),
                "windows": Windows(found["windows"]),
                "settings": StepSettings(**found["settings"]),
            }
        )


class TrainingPlan:
    """What one call of `train()` does.

    Parameters
    ----------
    model : Word2Vec
        Read once, apart from its learning rates, which a callback may change.
    choice : PlacementChoice
        Where to train, as `placement_for` returns it.
    choices : TrainingChoices
        What else was chosen.
    """

    def __init__(self, model: Any, choice: PlacementChoice, choices: TrainingChoices) -> None:
        self._model = model
        self._in_use = {name: getattr(model, name) for name in FIXED_IN_TRAINING}
        self.choice, self.choices = choice, choices
        self.maker = _block_maker(model, choices)

    @property
    def settings(self) -> StepSettings:
        """The settings of the steps."""
        return self.choices.settings

    def placement(self, source: Source) -> Placement:
        """Return a placement that trains chunks of this corpus."""
        return self.choice.make(self.settings, replace(self.maker, reader=source.reader))

    def epoch(self, number: int) -> EpochPlan:
        """Return what an epoch is trained with."""
        self._warn_of_changes()
        model, choices = self._model, self.choices
        return EpochPlan(
            epoch=number,
            epochs=model.epochs,
            seed=(*choices.entropy, model.train_count, number),
            learning_rate_at=lambda fraction: float(model._get_next_alpha(choices.fall * fraction, number)),
            total_examples=choices.total_examples,
            total_words=choices.total_words,
            exact_loss=model.compute_loss,
        )

    def _warn_of_changes(self) -> None:
        """Warn once of each setting that was changed in the midst of training."""
        changed = [name for name, used in self._in_use.items() if getattr(self._model, name) != used]
        for name in changed:
            logger.warning(
                "%s has been set to %r during train(), which goes on with %r; the next train() will use the new value",
                name,
                getattr(self._model, name),
                self._in_use.pop(name),
            )


def entropy_of(model: Any) -> tuple[int, ...]:
    """Return numbers that follow from a model's seed, or fresh ones if it has none."""
    return tuple(np.random.SeedSequence(model.seed).generate_state(4).tolist())


def fall_within_epoch(model: Any, from_file: bool, end_is_chosen: bool) -> float:
    """Return by what share of an even fall to `min_alpha` the learning rate falls within an epoch.

    Each thread of gensim's that trains from a file counts its own words, and takes them for those of all threads.
    """
    falls_evenly = model.schedule == "linear" or end_is_chosen or not from_file
    return 1.0 if falls_evenly else 1.0 / model.workers


def placement_for(
    model: Any, cluster: Any, total_words: int | None, choices: TrainingChoices | None = None
) -> PlacementChoice:
    """Return where to train a model: this process for `cluster` None, or the cluster, to which it connects.

    A training that is resumed has made its `choices`, the size of its blocks among them.
    """
    size = CorpusSize(
        total_words=int(total_words or model.corpus_total_words or 0),
        epochs=model.epochs,
        batch_words=None if model.batch_words == UNSET_BATCH_WORDS else model.batch_words,
        chunk_words=None if choices is None else choices.block_words,
    )
    options = ClusterOptions(
        model.cluster_timeout,
        model.cluster_overlap,
        model.cluster_dtype,
        bool(model.allow_network),
        model.distribution,
        model.round_words,
        model.backup_workers,
        bool(model.sg),
        model.submodels,
        model.sampling,
        model.sampling_rate,
        model.merge,
        model.lbfgs_history,
        model.seed,
    )
    tree = bool(model.hs)
    limits = in_flight_limits(len(model.wv), bool(model.sg), tree)
    return choose_placement(cluster, model.workers, size, limits, tree, options)


def _block_maker(model: Any, choices: TrainingChoices) -> BlockMaker:
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


def _batch_shape(model: Any, kept: Float64Array) -> BatchShape:
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
        bfloat16_products=multiplies_bfloat16() if model.compute_dtype is None else model.compute_dtype == "bfloat16",
        tiled=multiplies_tiles(),
    )


def _step_settings(model: Any, shape: BatchShape, windows: Windows, mask_accidental_hits: bool) -> StepSettings:
    max_step_rates = model.update_bound
    if max_step_rates is None:
        max_step_rates = choose_max_step_rates(bool(model.sg), model.negative)
    compute_dtype = model.compute_dtype
    if compute_dtype is None:
        compute_dtype = choose_compute_dtype(shape.batch_tokens, model.vector_size, multiplies_bfloat16())
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
    )
