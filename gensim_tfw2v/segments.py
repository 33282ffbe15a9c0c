"""Which places of a batch stand for the same table row: host-side sorting, so that the graph moves each row once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Int32Array = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Segments:
    """The distinct row ids of every batch, where they stand, and how to add up the gradients of equal ones.

    Gathering the gradients of batch `s` in ``order[splits[s]:splits[s + 1]]`` brings equal ids together; `segment`
    numbers them; the ids themselves, each once, are ``unique[unique_splits[s]:unique_splits[s + 1]]``.
    """

    order: Int32Array  # [positions of all batches], within their batch
    segment: Int32Array  # [positions of all batches], from 0 in every batch
    splits: Int32Array  # [batches + 1]
    unique: Int32Array  # [sum of distinct ids]
    unique_splits: Int32Array  # [batches + 1]
    numbers: Int32Array  # [batches, positions], the segment of each position; 0 for those left out


def sort_into_segments(ids: Int32Array) -> Segments:
    """Return the segments of `ids` [batches, positions], each batch on its own; negative ids are left out."""
    sorted_ids, order = sort_rows(ids)
    is_first = np.ones(ids.shape, dtype=bool)
    np.not_equal(sorted_ids[:, 1:], sorted_ids[:, :-1], out=is_first[:, 1:])
    used = sorted_ids >= 0
    is_first &= used
    segment = np.cumsum(is_first, axis=1, dtype=np.int32)
    segment -= np.int32(1)
    unique_splits = _splits(segment[:, -1] + 1)
    numbers = np.empty(ids.shape, dtype=np.int32)
    numbers.reshape(-1)[order + np.arange(0, ids.size, ids.shape[1])[:, None]] = segment
    if not used.all():
        np.maximum(numbers, 0, out=numbers)
        order, segment = order[used], segment[used]
    return Segments(
        order=order.reshape(-1),
        segment=segment.reshape(-1),
        splits=_splits(used.sum(axis=1)),
        # A fraction of the time of indexing with booleans, unless these are alike for long stretches.
        unique=np.compress(is_first.reshape(-1), sorted_ids),
        unique_splits=unique_splits,
        numbers=numbers,
    )


def sort_rows(values: Int32Array) -> tuple[Int32Array, Int32Array]:
    """Return each row of `values` [batches, positions] sorted, and where in its row each value stood; ties in order."""
    # Sorting (value, position) packed in one integer is several times faster than an argsort, more so if small.
    # In place, because fresh memory for a block's keys has its price, too.
    positions = values.shape[1]
    largest = (max(positions - 1, 0), int(np.max(values, initial=0)))
    position_bits, value_bits = (number.bit_length() for number in largest)
    key_type = np.int32 if value_bits + position_bits < 32 else np.int64
    keys = values.astype(key_type)
    keys <<= key_type(position_bits)
    keys |= np.arange(positions, dtype=key_type)
    keys.sort(axis=1)
    order = (keys & key_type((1 << position_bits) - 1)).astype(np.int32, copy=False)
    keys >>= key_type(position_bits)
    return keys.astype(np.int32, copy=False), order


def starts_of(lengths: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Return where pieces of these lengths start, and where the last one stops."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def _splits(counts: npt.NDArray[np.integer]) -> Int32Array:
    return starts_of(counts).astype(np.int32)
