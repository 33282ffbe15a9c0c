"""Finds batches of trained chunks whose steps became NaN or infinite, and has the error that names them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk, learning_rates


@dataclass(frozen=True)
class Divergence:
    """The first batch of a block in which a step would have been NaN or infinite."""

    epoch: int  # these three from 0
    block: int
    batch: int
    learning_rate: float
    most_moved: tuple[int, float] | None = None
    """The word's id and how far it moved, where the placement has dropped the block's changes."""

    def __str__(self) -> str:
        return f"batch {self.batch} of block {self.block} in epoch {self.epoch}, with alpha {self.learning_rate:g}"


class DivergenceError(RuntimeError):
    """Training was stopped because steps became NaN or infinite. The model has everything learnt except these steps.

    Attributes
    ----------
    divergence : Divergence
        The first batch with such steps.
    word : object
        The word whose vector has moved most; None if no vector has moved, or the word is not known.
    checkpoint : str or None
        The last checkpoint of the training, if there is one.
    """

    def __init__(
        self, divergence: Divergence, word: object = None, distance: float = 0.0, checkpoint: str | None = None
    ) -> None:
        moved = "" if word is None else f" The word moved most is {word!r}, by {distance:.3g}."
        super().__init__(
            f"training diverged: steps became NaN or infinite in {divergence}.{moved} These steps were not taken, and "
            "the model has finite vectors, which are of little use if they are long. Start again with a lower alpha "
            "or wv.vectors_lockf" + ("" if checkpoint is None else f". The last checkpoint is {checkpoint}")
        )
        self.divergence = divergence
        self.word = word
        self.checkpoint = checkpoint
        self._distance = distance

    def __reduce__(self) -> tuple[type[DivergenceError], tuple[Any, ...]]:
        return type(self), (self.divergence, self.word, self._distance, self.checkpoint)

    def with_word(self, word: object, distance: float) -> DivergenceError:
        """Return the same error, with the word that has moved most."""
        return DivergenceError(self.divergence, word, distance, self.checkpoint)

    def with_checkpoint(self, checkpoint: str) -> DivergenceError:
        """Return the same error, with the last checkpoint."""
        return DivergenceError(self.divergence, self.word, self._distance, checkpoint)


def check_finite(epoch: int, block: int, task: ChunkTask, trained: TrainedChunk) -> None:
    """Raise DivergenceError if steps of a trained chunk were refused."""
    # The operations mark batches of which they refused some steps by numbers that are not finite.
    refused = np.flatnonzero(~np.isfinite(trained.batches.losses + trained.batches.touched_rows))
    if refused.size:
        batch = int(refused[0])
        rate = float(learning_rates(task, len(trained.pairs))[batch])
        raise DivergenceError(Divergence(epoch, block, batch, rate, trained.most_moved))
