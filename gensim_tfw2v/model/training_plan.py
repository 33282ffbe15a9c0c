"""What a model's arguments ask of the pipeline: where to train, which steps on which blocks, at which rates."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from gensim_tfw2v.blocks.batch_shape import choose_batch_shape, choose_windows, has_frequent_hits
from gensim_tfw2v.blocks.batches import BlockMaker, Windows
from gensim_tfw2v.blocks.huffman import HuffmanTree
from gensim_tfw2v.blocks.sampling import NegativeSampler, keep_probabilities, kept_counts, word_counts
from gensim_tfw2v.model.corpus_reading import CorpusReading
from gensim_tfw2v.model.gensim_files import UNSET_BATCH_WORDS
from gensim_tfw2v.placement.block_size import can_share_rows
from gensim_tfw2v.placement.choice import ClusterOptions, PlacementChoice, choose_placement
from gensim_tfw2v.runtime.processor import multiplies_bfloat16, multiplies_tiles
from gensim_tfw2v.steps.settings import StepSettings, choose_compute_dtype, choose_max_step_rates
from gensim_tfw2v.training.epochs import EpochPlan

logger = logging.getLogger(__name__)

# What training takes from the model once, when it begins; learning rates it asks for as it goes.
_TAKEN_ONCE = (
    "sg", "hs", "negative", "window", "shrink_windows", "cbow_mean", "sample", "workers", "batch_words", "batch_tokens",
    "run_tokens", "shared_negatives", "update_bound", "compute_dtype",
)  # fmt: skip


class TrainingPlan(CorpusReading):
    """Says in the pipeline's terms what the model is to be trained with."""

    batch_tokens: int | None
    run_tokens: int | None
    shared_negatives: int | None
    update_bound: float | None
    compute_dtype: str | None
    cluster_timeout: float
    cluster_overlap: bool | None
    cluster_dtype: str | None

    def _place(self, cluster: Any, total_words: int | None) -> PlacementChoice:
        """Return where training is to run, and on blocks of which size."""
        chosen = None if self.batch_words == UNSET_BATCH_WORDS else self.batch_words
        words = int(total_words or self.corpus_total_words or 0)
        options = ClusterOptions(self.cluster_timeout, self.cluster_overlap, self.cluster_dtype)
        tree = bool(self.hs)
        share_rows = can_share_rows(len(self.wv), bool(self.sg), tree)
        return choose_placement(cluster, self.workers, words, self.epochs, chosen, share_rows, tree, options)

    def _step_and_blocks(self, place: PlacementChoice) -> tuple[StepSettings, BlockMaker]:
        """Return what steps are to do and how blocks are made; what both depend on is worked out once."""
        keep = keep_probabilities(self.wv, self.sample)
        kept = kept_counts(word_counts(self.wv), keep)
        negatives = NegativeSampler(self.cum_table) if self.negative else None
        windows = choose_windows(bool(self.shrink_windows), bool(self.hs), len(self.wv))
        fast_bfloat16 = multiplies_bfloat16()
        shape = choose_batch_shape(
            kept,
            self.vector_size,
            self.window,
            self.negative,
            bool(self.sg),
            bool(self.hs),
            self.batch_tokens,
            self.run_tokens,
            self.shared_negatives,
            bfloat16_products=fast_bfloat16 if self.compute_dtype is None else self.compute_dtype == "bfloat16",
            tiled=multiplies_tiles(),
        )
        max_step_rates = self.update_bound
        if max_step_rates is None:
            max_step_rates = choose_max_step_rates(bool(self.sg), self.negative)
        settings = StepSettings(
            skip_gram=bool(self.sg),
            mean_context=bool(self.cbow_mean),
            window=self.window,
            run_tokens=shape.run_tokens,
            negative=self.negative,
            shared_negatives=shape.shared_negatives,
            hierarchical_softmax=bool(self.hs),
            mask_accidental_hits=negatives is not None and has_frequent_hits(kept, negatives.shares()),
            max_step=self.alpha * max_step_rates,
            max_step_rates=max_step_rates,  # the rate may rise above `alpha`: to `min_alpha`, or as a callback wants it
            compute_dtype=self.compute_dtype
            or choose_compute_dtype(shape.batch_tokens, self.vector_size, fast_bfloat16),
            mean_windows=windows is Windows.MEAN,
        )
        maker = BlockMaker(
            skip_gram=settings.skip_gram,
            window=self.window,
            windows=windows,
            shape=shape,
            keep=keep,
            negatives=negatives,
            tree=HuffmanTree.of(self.wv) if self.hs else None,
            # A pool as large as the vocabulary would spare nothing.
            negative_pool=place.negative_pool if len(self.wv) > (place.negative_pool or 0) else None,
        )
        return settings, maker

    def _settings_in_use(self) -> dict[str, Any]:
        """Return the settings that a training goes on with once it has begun."""
        return {name: getattr(self, name) for name in _TAKEN_ONCE}

    def _warn_of_changes(self, in_use: dict[str, Any]) -> None:
        """Warn of settings that are others than those in use, and forget these, of which enough has been said."""
        changed = [name for name, used in in_use.items() if getattr(self, name) != used]
        for name in changed:
            logger.warning(
                "%s has been set to %r during train(), which goes on with %r; the next train() will use the new value",
                name,
                getattr(self, name),
                in_use.pop(name),
            )

    def _epoch_plan(self, epoch: int, total_examples: int | None, total_words: int | None) -> EpochPlan:
        """Return what an epoch is to be trained with."""
        return EpochPlan(
            epoch=epoch,
            epochs=self.epochs,
            seed=(*self._entropy(), self.train_count, epoch),
            learning_rate_at=lambda fraction: float(self._get_next_alpha(fraction, epoch)),
            total_examples=total_examples,
            total_words=total_words,
            exact_loss=self.compute_loss,
        )

    def _entropy(self) -> tuple[int, ...]:
        """Return the model's seed, or fresh entropy if it has none."""
        return tuple(np.random.SeedSequence(self.seed).generate_state(4).tolist())
