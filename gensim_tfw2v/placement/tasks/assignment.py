"""A chunk for a worker: what the worker gets besides its model, and whether that fits the model."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from gensim_tfw2v.blocks.chunk_parts import part_of
from gensim_tfw2v.blocks.chunk_task import ChunkTask, words_of
from gensim_tfw2v.blocks.document_blocks import DocumentBlockMaker, tags_of
from gensim_tfw2v.cluster.errors import TaskError
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shards import ShardReader
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.steps.row_sharing import RowSharing

_Assignment = TypeVar("_Assignment", bound="Assignment")


@dataclass(frozen=True)
class Assignment:
    """A chunk for a worker, with what the worker must know besides its model."""

    lease_key: int  # of the tables that the block is trained on
    shards: int
    concurrent_blocks: int
    sharing: RowSharing
    task: ChunkTask
    cores: int = field(default=1, kw_only=True)  # of a worker, at most, that train the block
    block_words: int | None = field(default=None, kw_only=True)  # of the blocks of the chunk; None: it is one block

    def within(self: _Assignment, cores: int) -> _Assignment:
        """Return the assignment for a worker that has so many cores."""
        return replace(self, cores=min(self.cores, cores))

    def block(self, number: int, reader: ShardReader | None) -> tuple[ChunkTask, int]:
        """Return the block of this number, from 0, in the chunk, and how many come after it."""
        if self.block_words is not None and self.block_words < 1:
            raise TaskError(f"a block cannot have {self.block_words} words")
        blocks = 1 if self.block_words is None else max(1, round(words_of(self.task) / self.block_words))
        return part_of(self.task, blocks, number, reader)


class Request(NamedTuple):
    """A chunk on its way to a worker."""

    model: Any  # its name
    assignment: Any  # an `Assignment` as bytes; on its way to a worker, the worker's ticket follows


def check(model: WorkerModel, assignment: Assignment) -> None:
    """Raise TaskError if an assignment has ids of no word, or does not fit the model in another way."""
    content, sharing = assignment.task.content, assignment.sharing
    if isinstance(content, Sentences):
        ids, lengths = content.ids, content.lengths
        if ids.size and not 0 <= int(ids.min()) <= int(ids.max()) < model.words:
            raise TaskError(f"the sentences have ids from {ids.min()} to {ids.max()}, of {model.words} words")
        if lengths.min(initial=0) < 0 or int(lengths.sum(dtype=np.int64)) != ids.size:
            raise TaskError(f"the sentences do not end where their {ids.size} words do")
        _check_weights(content, model.settings.weighted)
        if isinstance(model.maker, DocumentBlockMaker) and lengths.size:
            _check_documents(content, model.maker.tag_count)
    smallest_table = min(model.words, model.inputs, model.nodes or model.words)
    if assignment.shards < 1 or not 0 <= sharing.rows <= smallest_table:
        raise TaskError(f"there are no tables of {assignment.shards} shards with {sharing.rows} shared rows")
    if assignment.cores < 1:
        raise TaskError(f"a block cannot be trained by {assignment.cores} cores")


def _check_documents(sentences: Sentences, tag_count: int) -> None:
    """Raise TaskError if sentences have no documents, or these have tags that the model lacks."""
    numbers, tags = tags_of(sentences)
    arrays = (numbers, tags.indices, tags.offsets)
    count, last = len(tags.offsets) - 1, tags.offsets[-1:].sum()
    fits = (
        all(array.dtype == np.int32 and array.ndim == 1 for array in arrays)
        and numbers.shape == sentences.lengths.shape
        and 0 <= numbers.min() <= numbers.max() < count
        and tags.offsets[0] == 0
        and (np.diff(tags.offsets) >= 0).all()
        and last == len(tags.indices) == len(tags.are_unique)
        and (not last or 0 <= tags.indices.min() <= tags.indices.max() < tag_count)
        and tags.are_unique.dtype == bool
    )
    if not fits:
        raise TaskError(f"sentences have documents that do not fit each other, or not the model's {tag_count} tags")


def _check_weights(sentences: Sentences, are_trained: bool) -> None:
    """Raise TaskError if sentences have weights that do not fit the model, or cannot be trained with."""
    weights, count = sentences.weights, sentences.lengths.size
    if (weights is not None) != are_trained and count:
        raise TaskError(f"sentences with weights: {weights is not None}, and the model trains with them: {are_trained}")
    if weights is None:
        return
    if weights.dtype != np.float32 or weights.shape != (count,):
        raise TaskError(f"{count} sentences have weights of {weights.dtype} in the shape {weights.shape}")
    if not (weights.min(initial=0) >= 0 and np.isfinite(weights).all()):
        raise TaskError("the sentences have weights that are negative or not finite")
