"""The choices made when a training begins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from gensim_tfw2v.blocks.batches import BatchShape, Windows
from gensim_tfw2v.steps.settings import StepSettings


@dataclass(frozen=True, kw_only=True)
class TrainingChoices:
    """The choices made when a training begins. They stay as they are if the training is resumed elsewhere."""

    total_examples: int | None  # sentences of an epoch
    total_words: int | None  # raw words of an epoch
    fall: float  # how far the learning rate falls within an epoch, as a share of an even fall to `min_alpha`
    entropy: tuple[int, ...]  # of the training's random numbers
    alpha: float  # the model's rates at the beginning; callbacks may change them
    min_alpha: float
    block_words: int
    negative_pool: int | None
    shape: BatchShape
    windows: Windows
    settings: StepSettings
    first_pass: int = 0  # number of the pass that the first epoch reads, of sentences whose passes differ

    def without(self, sentences: int, raw_words: int) -> TrainingChoices:
        """Return the choices for a corpus of which so many sentences and words are not trained."""
        examples = None if self.total_examples is None else max(1, self.total_examples - sentences)
        words = None if self.total_words is None else max(1, self.total_words - raw_words)
        return replace(self, total_examples=examples, total_words=words) if sentences else self

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> TrainingChoices:
        """Return the choices that a checkpoint has as JSON."""
        return cls(
            **{
                **found,
                "entropy": tuple(found["entropy"]),
                "shape": BatchShape(**found["shape"]),
                "windows": Windows(found["windows"]),
                "settings": StepSettings(**found["settings"]),
            }
        )
