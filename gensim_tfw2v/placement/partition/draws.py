"""Which sentences of the corpus each sub-model trains, and which words a block of them trains."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gensim_tfw2v.arrays import BoolArray, Int32Array
from gensim_tfw2v.blocks.batches import Block
from gensim_tfw2v.blocks.chunk_task import ChunkTask
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.placement.request import TrainingOptions

EQUAL, RANDOM, SHUFFLE = "equal", "random", "shuffle"
_DRAWS = 0x6472_6177  # a number of its own, so that draws and blocks have different random numbers


@dataclass(frozen=True)
class Draw:
    """Draws one sub-model's sentences from every chunk.

    Attributes
    ----------
    sampling : str
        - `"equal"`: the chunk is cut into one consecutive part for each sub-model.
        - `"random"`: each sentence with the probability `rate`, the same ones in every epoch.
        - `"shuffle"`: each sentence with the probability `rate`, drawn anew in every epoch.
    rate : float
        Share of the sentences.
    submodel, submodels : int
        The sub-model's number, and how many there are.
    """

    sampling: str
    rate: float
    submodel: int
    submodels: int

    def of(self, lengths: Int32Array, entropy: tuple[int, ...]) -> BoolArray:
        """Return which sentences of a chunk, given their lengths, the sub-model trains.

        Draws follow from the chunk's entropy alone, so that they are equal wherever a chunk is trained.
        """
        if self.sampling == EQUAL:
            begins = np.cumsum(lengths, dtype=np.int64) - lengths
            owners = begins * self.submodels // max(1, int(lengths.sum(dtype=np.int64)))
            return np.asarray(owners == self.submodel)
        *training, epoch, chunk = entropy
        of_chunk = [*training, chunk] if self.sampling == RANDOM else [*training, epoch, chunk]
        seeds = np.random.SeedSequence([*of_chunk, self.submodel, _DRAWS])
        drawn: BoolArray = np.random.Generator(np.random.Philox(seeds)).random(len(lengths)) < self.rate
        return drawn

    def task_of(self, task: ChunkTask, sentences: Sentences) -> ChunkTask:
        """Return the sub-model's share of a chunk that has these sentences, with random numbers of its own."""
        share = sentences.whole(self.of(sentences.lengths, task.entropy))
        return replace(task, content=share, entropy=(*task.entropy, self.submodel))


@dataclass(frozen=True)
class Partition:
    """How a corpus is shared among sub-models, and how they are merged."""

    submodels: int
    sampling: str
    rate: float
    merge: str

    @classmethod
    def of(cls, options: TrainingOptions, default_submodels: int) -> Partition:
        """Return what the model's arguments ask for."""
        asked = options.of_design
        submodels = asked["submodels"] or default_submodels
        rate = asked["sampling_rate"] or 1 / submodels
        return cls(submodels, asked["sampling"] or SHUFFLE, rate, asked["merge"] or "alir")

    def draws(self) -> list[Draw]:
        """Return the draw of each sub-model."""
        return [Draw(self.sampling, self.rate, submodel, self.submodels) for submodel in range(self.submodels)]

    def chunk_words(self, words: int) -> int:
        """Return the raw words of a chunk, chosen so that a sub-model's share of it has about `words` raw words."""
        return max(1, round(words / self.rate))


def trained_words(block: Block) -> Int32Array:
    """Return the ids, in ascending order, of all words of a block that have a context."""
    has_context = block.left + block.right > 0
    tokens = has_context.shape[-1]
    margin = (block.input_ids.shape[-1] - tokens) // 2  # CBOW's inputs are the widened runs
    ids = block.input_ids[..., margin : margin + tokens][has_context]
    is_trained = np.zeros(int(ids.max(initial=-1)) + 1, bool)
    is_trained[ids] = True
    return np.flatnonzero(is_trained).astype(np.int32)
