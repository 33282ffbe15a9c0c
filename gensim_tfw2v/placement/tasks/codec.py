"""Dataclasses and NamedTuples as bytes, field by field: the form in which settings and chunks are sent.

Layout: the length of the head and the CRC-32 of all that follows, in 8 bytes each; the head, in JSON; the bytes of each
array, at multiples of 64. The head has the fields of each object by name, and type and shape of each array. A class may
gain or lose a field without any change here.
"""

from __future__ import annotations

import enum
import functools
import json
import math
import re
import struct
import types
import typing
import zlib
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

from gensim_tfw2v.arrays import UInt8Array
from gensim_tfw2v.cluster.errors import TaskError, brief

_Value = TypeVar("_Value")

_START = struct.Struct("<QQ")
_ALIGNMENT = 64  # bytes, so that arrays need not be copied
_ARRAY = "array"
_PLAIN = bool | int | float | str | None
_NUMBERS = re.compile(r"[<|][bfiu]\d")  # dtypes of arrays, which hold no objects


def encode(value: Any) -> UInt8Array:
    """Return the bytes of an object whose fields are plain values or tuples of them, enums, arrays or such objects."""
    arrays: list[np.ndarray] = []
    head = json.dumps(_to_json(value, arrays), separators=(",", ":")).encode()
    return message(head, [array.tobytes() for array in arrays])


def message(head: bytes, arrays: Sequence[bytes]) -> UInt8Array:
    """Return the bytes of a message with this head and the bytes of these arrays."""
    padded = (array + bytes(_padding(len(array))) for array in arrays)
    parts = [head + bytes(_padding(_START.size + len(head))), *padded]
    checksum = functools.reduce(lambda crc, part: zlib.crc32(part, crc), parts, 0)
    return np.frombuffer(b"".join([_START.pack(len(head), checksum), *parts]), np.uint8)


def decode(of_type: type[_Value], data: UInt8Array) -> _Value:
    """Return the object of this type that `encode` turned into bytes; its arrays are views of `data`.

    Raise TaskError if the bytes are no such message.
    """
    try:
        length, checksum = _START.unpack_from(data.data)
        if checksum != zlib.crc32(data.data[_START.size :]):
            raise ValueError("its checksum does not fit")
        end = _START.size + length
        value = _Reader(data, end).read(json.loads(data[_START.size : end].tobytes()), of_type)
        if not isinstance(value, of_type):
            raise TypeError(f"it holds a {type(value).__name__}")
    except (struct.error, ValueError, TypeError, LookupError, OverflowError, RecursionError, MemoryError) as error:
        raise TaskError(f"a message with a {of_type.__name__} arrived damaged: {brief(error)}") from None
    return value


def _to_json(value: Any, arrays: list[np.ndarray]) -> Any:
    """Return the JSON form of a value for the head; its arrays are appended to `arrays`."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {_ARRAY: [value.dtype.str, *value.shape]}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, enum.Enum):
        return value.value
    if names := _field_names(value):
        return {type(value).__name__: {name: _to_json(getattr(value, name), arrays) for name in names}}
    if isinstance(value, tuple) and all(isinstance(item, _PLAIN | np.generic) for item in value):
        return [_to_json(item, arrays) for item in value]
    if isinstance(value, _PLAIN):
        return value
    raise TypeError(f"cannot encode {value!r}")


class _Reader:
    """Makes objects from the head, and takes arrays from the bytes after it in their order."""

    def __init__(self, data: UInt8Array, head_end: int) -> None:
        self._data = data
        self._next = head_end + _padding(head_end)  # where the next array begins

    def read(self, node: Any, annotation: Any) -> Any:
        """Return the value of a field with this annotation."""
        if isinstance(node, dict):
            ((name, content),) = node.items()
            if name == _ARRAY:
                return self._array(*content)
            of_type = _class_of(name, annotation)
            if not isinstance(content, dict):
                raise TypeError(f"a {name} has fields")
            hints = _hints(of_type)
            return of_type(**{field: self.read(value, hints[field]) for field, value in content.items()})
        if isinstance(node, list):
            return tuple(node)
        enums = [kind for kind in _alternatives(annotation) if isinstance(kind, type) and issubclass(kind, enum.Enum)]
        return enums[0](node) if enums and node is not None else node

    def _array(self, dtype: str, *shape: int) -> np.ndarray:
        if not _NUMBERS.fullmatch(dtype) or not all(type(size) is int and size >= 0 for size in shape):
            raise ValueError(f"there is no array of {dtype!r} in the shape {shape}")
        first = self._next
        end = first + np.dtype(dtype).itemsize * math.prod(shape)
        self._next = end + _padding(end)
        return self._data[first:end].view(dtype).reshape(shape)


def _padding(size: int) -> int:
    return -size % _ALIGNMENT


def _field_names(value: Any) -> tuple[str, ...]:
    """Return the names of the fields of a dataclass or NamedTuple, none for other values."""
    if is_dataclass(value):
        return tuple(field.name for field in fields(value))
    return tuple(getattr(value, "_fields", ()))


@functools.cache
def _hints(of_type: type) -> dict[str, Any]:
    return typing.get_type_hints(of_type)


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    """Return the types of a union, or the one that an annotation is."""
    is_union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    return typing.get_args(annotation) if is_union else (annotation,)


def _class_of(name: str, annotation: Any) -> type:
    """Return which class of an annotation has this name."""
    for kind in _alternatives(annotation):
        if isinstance(kind, type) and kind.__name__ == name:
            return kind
    raise TypeError(f"{name} is none of {annotation}")
