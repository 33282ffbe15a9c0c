"""A portion of the corpus: its bytes on the way to a worker, and there its block as arrays, with rows numbered anew.

Layout of the bytes, little-endian: the CRC-32 of all that follows, in 4 bytes; lease key and shards, in 4 bytes each;
the number of entropy values and the kind of content, in 2 bytes each; the entropy, in 8 bytes a value; the content. A
span is five numbers of 8 bytes. Sentences are sent where there is no encoded corpus: the numbers of ids and of lengths,
in 8 bytes each, then the ids and the lengths, in 4 bytes each. The worker's ticket follows.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from gensim_tfw2v.arrays import Float64Array, Int32Array, UInt8Array
from gensim_tfw2v.blocks.chunk_task import ChunkTask, prepare
from gensim_tfw2v.cluster.errors import TaskError
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shards import Span
from gensim_tfw2v.placement.server_rows.numbering import (
    BLOCK_ROWS,
    BlockRows,
    needed_rows,
    no_rows,
    numbered,
    renumbered,
)
from gensim_tfw2v.placement.tasks.assignment import Assignment, check
from gensim_tfw2v.placement.tasks.block import (
    BlockBasics,
    WorkerBlock,
    rates_on,
    without_batches,
    worker_block,
    worker_block_specs,
)
from gensim_tfw2v.placement.tasks.block_kind import BlockKind
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.steps.row_sharing import NOT_SHARED

_CHECKSUM_BYTES = 4
_HEAD = struct.Struct("<IIHH")
_SPAN, _SENTENCES = range(2)


def fixed(task: ChunkTask) -> ChunkTask:
    """Return the task as every evaluation has it: with the same random numbers in each epoch, and no rates."""
    *seed, _, number = task.entropy
    return replace(task, entropy=(*seed, number), first_rate=1.0, last_rate=1.0, exact_loss=True)


# -- bytes -------------------------------------------------------------------------------------------------------------


def pack(lease_key: int, shards: int, task: ChunkTask) -> UInt8Array:
    """Return the bytes of a task that `fixed` has returned."""
    content = task.content
    if isinstance(content, Span):
        kind, data = _SPAN, np.array(content, "<i8").tobytes()
    else:
        kind = _SENTENCES
        arrays = [array.astype("<i4").tobytes() for array in (content.ids, content.lengths)]
        data = b"".join([np.array([content.ids.size, content.lengths.size], "<i8").tobytes(), *arrays])
    entropy = np.array(task.entropy, "<u8")
    packed = _HEAD.pack(lease_key, shards, entropy.size, kind) + entropy.tobytes() + data
    return np.frombuffer(zlib.crc32(packed).to_bytes(_CHECKSUM_BYTES, "little") + packed, np.uint8)


def unpack(data: UInt8Array) -> Assignment:
    """Return the arguments of `pack` as an assignment. Raise TaskError if the bytes are no such request."""
    try:
        checksum, packed = data[:_CHECKSUM_BYTES].tobytes(), data[_CHECKSUM_BYTES:].tobytes()
        if int.from_bytes(checksum, "little") != zlib.crc32(packed):
            raise ValueError("its checksum does not fit")
        lease_key, shards, count, kind = _HEAD.unpack_from(packed)
        end = _HEAD.size + 8 * count
        entropy = np.frombuffer(packed[_HEAD.size : end], "<u8", count)
        content = _span(packed[end:]) if kind == _SPAN else _sentences(packed[end:])
    except (struct.error, ValueError, MemoryError, OverflowError) as error:
        raise TaskError(f"a portion's request arrived damaged: {error}") from None
    task = ChunkTask(content, tuple(entropy.tolist()), first_rate=1.0, last_rate=1.0, exact_loss=True)
    return Assignment(lease_key, shards, concurrent_blocks=1, sharing=NOT_SHARED, task=task)


def _span(data: bytes) -> Span:
    numbers = np.frombuffer(data, "<i8")
    if numbers.size != len(Span._fields):
        raise ValueError(f"a span has {len(Span._fields)} numbers, and not {numbers.size}")
    return Span(*numbers.tolist())


def _sentences(data: bytes) -> Sentences:
    ids, lengths = np.frombuffer(data[:16], "<i8", 2).tolist()
    numbers = np.frombuffer(data[16:], "<i4").astype(np.int32)
    if ids < 0 or lengths < 0 or ids + lengths != numbers.size:
        raise ValueError(f"there are {numbers.size} numbers instead of {ids} ids and {lengths} lengths")
    return Sentences(numbers[:ids], numbers[ids:])


# -- block -------------------------------------------------------------------------------------------------------------


class PortionRows(NamedTuple):
    """The rows of a portion on its worker's copy of them."""

    needed: BlockRows
    held: Any  # [H], rows of the worker's matrix that stay where they are


def portion_on(model: WorkerModel, assignment: Assignment, metrics: Float64Array) -> WorkerBlock:
    """Return the assignment's portion, which has no batches if subsampling leaves no token."""
    check(model, assignment)
    prepared = prepare(model.maker, assignment.task)
    if prepared is None:
        nothing = PortionRows(no_rows(assignment.shards), np.zeros(0, np.int32))
        return without_batches(assignment, metrics, nothing)
    places, rows = numbered(needed_rows(model, prepared.block), assignment.shards)
    own = renumbered(prepared.block, *places)
    basics = BlockBasics.of(own, rates_on(model, prepared, places[0], len(rows.numbers)), assignment, metrics)
    extra = PortionRows(rows, _held(model, prepared.block.input_ids, places[0]))
    return worker_block(own, basics, extra)


def _held(model: WorkerModel, input_ids: Int32Array, places: Int32Array) -> Int32Array:
    """Return the places of input rows whose lock factor is 0."""
    locks = model.lock_factors
    if locks.all():
        return np.zeros(0, np.int32)
    words = np.unique(input_ids)
    held: Int32Array = places[words[locks[words % len(locks)] == 0]]
    return held


PORTION = BlockKind(
    "gensim_tfw2v.make_portion",
    worker_block_specs(PortionRows(BLOCK_ROWS, tf.TensorSpec([None], tf.int32))),
    portion_on,
    unpack,
)
