"""Checkpoints with damaged files, and manifests that lie under a checksum that fits."""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fuzzing.target import Target, assert_one_line, damaged, edits
from gensim_tfw2v.checkpoints.arrays import ArrayToWrite
from gensim_tfw2v.checkpoints.errors import CheckpointError
from gensim_tfw2v.checkpoints.folder import Checkpoint, CheckpointFolder
from gensim_tfw2v.files.checked_json import with_checksum

Files = dict[str, bytes]

_ARRAYS = {"inputs": np.arange(24, dtype=np.float32).reshape(6, 4), "words": np.frombuffer(b"the\nof\n", np.uint8)}


@functools.cache
def _files() -> Files:
    """Return the files of two checkpoints and the notes beside them."""
    with tempfile.TemporaryDirectory() as place:
        folder = CheckpointFolder(place)
        for epoch in (1, 2):
            arrays = {name: ArrayToWrite.of(array) for name, array in _ARRAYS.items()}
            folder.write({"epoch": epoch, "losses": [0.5, None]}, arrays)
        folder.note({"recoveries": 1})
        files = sorted(path for path in Path(place).rglob("*") if path.is_file())
        return {str(path.relative_to(place)): path.read_bytes() for path in files}


def _written(place: str, files: Files) -> Path:
    for name, data in files.items():
        path = Path(place, name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    return Path(place)


def _read(path: Path) -> dict[str, Any]:
    """Return everything in a folder of checkpoints."""
    found: dict[str, Any] = {"notes": CheckpointFolder(path).notes()}
    for checkpoint in map(Checkpoint, CheckpointFolder(path).checkpoints()):
        checkpoint.check()
        arrays = {name: checkpoint.array(name).tolist() for name in checkpoint.arrays}
        found[checkpoint.path.name] = (checkpoint.content, arrays)
    return found


@functools.cache
def _whole() -> Any:
    with tempfile.TemporaryDirectory() as place:
        return _read(_written(place, _files()))


def check_damaged(example: tuple[int, list[Any]]) -> None:
    """A file in which any byte has changed is refused in one line with its name."""
    number, changes = example
    name = list(_files())[number % len(_files())]
    files = _files() | {name: damaged(_files()[name], changes)}
    with tempfile.TemporaryDirectory() as place:
        try:
            found = _read(_written(place, files))
        except CheckpointError as error:
            assert files[name] != _files()[name]
            assert_one_line(str(error), Path(place, name))
        else:
            assert files[name] == _files()[name], "damage was not seen"
            assert found == _whole()


def check_forged(example: tuple[bool, list[Any], list[tuple[str, Any]]]) -> None:
    """A changed manifest under a checksum that fits is refused in one line, or has arrays as large as the files."""
    of_notes, changes, fields = example
    name = "notes.json" if of_notes else "checkpoint-000002/manifest.json"
    text = json.loads(_files()[name])
    del text["checksum"]
    for field, value in fields:
        place = text if of_notes or field in ("format", "version", "content", "arrays") else text["arrays"]["inputs"]
        place[field] = value
        if field == "arrays":
            break
    data = damaged(json.dumps(text).encode("ascii"), changes).decode("ascii", "ignore")
    files = _files() | {name: with_checksum(data)[0]}
    with tempfile.TemporaryDirectory() as place:
        try:
            found = _read(_written(place, files))
        except CheckpointError as error:
            assert_one_line(str(error), place)
        else:
            assert found["checkpoint-000001"] == _whole()["checkpoint-000001"]
            assert isinstance(found["notes"], dict)
            assert isinstance(found["checkpoint-000002"][0], dict)


_sizes = st.one_of(st.integers(-1, 30), st.sampled_from([2**31, 2**40, 2**63, 10**30, True, 1.0]))
_json = st.recursive(
    st.one_of(st.none(), _sizes, st.text(max_size=8), st.sampled_from(["<f4", "|O8", "../inputs.array"])),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=6,
)
_changes = st.one_of(
    st.tuples(st.sampled_from(["format", "version", "content", "arrays", "file", "dtype"]), _json),
    st.tuples(st.sampled_from(["shape", "crc32"]), st.one_of(st.lists(_sizes, max_size=3), _json)),
    st.tuples(st.just("piece_rows"), st.one_of(_sizes, _json)),
)
DAMAGED = Target(st.tuples(st.integers(0, 6), edits), check_damaged)
FORGED = Target(
    st.tuples(st.booleans(), st.one_of(st.just([]), edits), st.lists(_changes, max_size=3)),
    check_forged,
)
