"""A portion of the corpus as bytes: what the coordinator sends, besides the worker's ticket.

Layout, little-endian: the CRC-32 of all that follows, in 4 bytes; lease key and shards, in 4 bytes each; the number of
entropy values and the kind of content, in 2 bytes each; the entropy, in 8 bytes a value; the content. A span is five
numbers of 8 bytes. Sentences are sent where there is no encoded corpus: the numbers of ids and of lengths, in 8 bytes
each, then the ids and the lengths, in 4 bytes each.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace

import numpy as np

from gensim_tfw2v.arrays import UInt8Array
from gensim_tfw2v.blocks.chunk_task import ChunkTask
from gensim_tfw2v.cluster.errors import TaskError
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shards import Span
from gensim_tfw2v.placement.tasks.assignment import Assignment
from gensim_tfw2v.steps.row_sharing import NOT_SHARED

_HEAD = struct.Struct("<IIIHH")
_CHECKSUM = struct.Struct("<I")
_SPAN, _SENTENCES = range(2)


def fixed(task: ChunkTask) -> ChunkTask:
    """Return the task as every evaluation has it: with the same random numbers in each epoch, and no rates."""
    *seed, _, number = task.entropy
    return replace(task, entropy=(*seed, number), first_rate=1.0, last_rate=1.0, exact_loss=True)


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
    packed = _HEAD.pack(0, lease_key, shards, entropy.size, kind) + entropy.tobytes() + data
    checksum = _CHECKSUM.pack(zlib.crc32(packed[_CHECKSUM.size :]))
    return np.frombuffer(checksum + packed[_CHECKSUM.size :], np.uint8)


def unpack(data: UInt8Array) -> Assignment:
    """Return the arguments of `pack` as an assignment. Raise TaskError if the bytes are no such request."""
    try:
        packed = data.tobytes()
        checksum, lease_key, shards, count, kind = _HEAD.unpack_from(packed)
        if checksum != zlib.crc32(packed[_CHECKSUM.size :]):
            raise ValueError("its checksum does not fit")
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
