"""``manifest.json``: what a checkpoint holds, under a checksum of its own; and ``notes.json``, in the same format.

The checksum is checked before anything else in a file is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gensim_tfw2v.checkpoints.arrays import ArrayLayout, shown
from gensim_tfw2v.checkpoints.errors import CheckpointError, damaged, reading
from gensim_tfw2v.files.checked_json import checksum_in, with_checksum

MANIFEST_FILE, NOTES_FILE = "manifest.json", "notes.json"
_FORMATS = {MANIFEST_FILE: "gensim_tfw2v checkpoint", NOTES_FILE: "gensim_tfw2v notes on checkpoints"}
_VERSION = 1
_ARRAY_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True)
class Manifest:
    """The content of ``manifest.json``."""

    content: dict[str, Any]
    arrays: dict[str, ArrayLayout]


def manifest_text(manifest: Manifest) -> bytes:
    """Return the bytes of a manifest."""
    arrays = {name: {"file": array_file(name)} | layout.as_json() for name, layout in manifest.arrays.items()}
    return _text(MANIFEST_FILE, {"content": manifest.content, "arrays": arrays})


def notes_text(content: Mapping[str, Any]) -> bytes:
    """Return the bytes of notes."""
    return _text(NOTES_FILE, {"content": content})


def read_manifest(folder: Path) -> Manifest:
    """Return the content of a checkpoint's manifest; raise an error that names the file if it is damaged."""
    path = folder / MANIFEST_FILE
    fields = _read(path)
    try:
        for name, found in fields["arrays"].items():
            if found["file"] != array_file(name):
                raise ValueError(f"the file of array {name!r} has the name {shown(found['file'])}")
        arrays = {name: ArrayLayout.from_json(found) for name, found in fields["arrays"].items()}
        return Manifest(_checked_content(fields["content"]), arrays)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged(path, f"{type(error).__name__}: {error}") from None


def read_notes(path: Path) -> dict[str, Any]:
    """Return the content of notes; raise an error that names the file if it is damaged."""
    content = _read(path).get("content")
    try:
        return _checked_content(content)
    except CheckpointError as error:
        raise damaged(path, error) from None


def array_file(name: str) -> str:
    """Return the name of an array's file; raise CheckpointError unless it is a name for an array."""
    if not isinstance(name, str) or not _ARRAY_NAME.fullmatch(name):
        raise CheckpointError(
            f"{shown(name)} is no name for an array: letters, digits and '_', and after the first also '-' and '.'"
        )
    return f"{name}.array"


def checked_content(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a content for a checkpoint or notes; raise CheckpointError unless JSON preserves it."""
    found = _checked_content(dict(content) if isinstance(content, Mapping) else content)
    try:
        _check_keys(found)
        json.dumps(found)
    except (TypeError, ValueError, RecursionError) as error:
        raise CheckpointError(f"JSON cannot hold the content: {type(error).__name__}: {error}") from None
    return found


def _checked_content(content: Any) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise CheckpointError(f"the content is of type {type(content).__name__}, and not a mapping")
    return content


def _check_keys(value: Any) -> None:
    """Raise TypeError for keys that JSON would turn into text."""
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"the key {shown(key)} is no text")
    if isinstance(value, (dict, list, tuple)):
        for part in value.values() if isinstance(value, dict) else value:
            _check_keys(part)


def _text(name: str, fields: dict[str, Any]) -> bytes:
    return with_checksum(json.dumps({"format": _FORMATS[name], "version": _VERSION} | fields))[0]


def _read(path: Path) -> dict[str, Any]:
    """Return the fields of a file of one of these formats, after checking its checksum."""
    with reading(path):
        data = path.read_bytes()
    try:
        checksum_in(data)
        fields = json.loads(data)
        mark, version = fields["format"], fields["version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise damaged(path, error if type(error) is ValueError else f"{type(error).__name__}: {error}") from None
    if mark != _FORMATS[path.name]:
        raise CheckpointError(f"{path}: the format is {shown(mark)}, not {_FORMATS[path.name]!r}")
    if type(version) is not int or version < 1:
        raise damaged(path, f"its version is {shown(version)}")
    if version > _VERSION:
        raise CheckpointError(
            f"{path} has version {version} of the format, and this package reads {_VERSION}: update gensim_tfw2v"
        )
    assert isinstance(fields, dict)
    return fields
