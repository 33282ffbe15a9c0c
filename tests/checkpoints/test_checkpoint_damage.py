"""Damaged and forged checkpoints: each is refused, with the file's name and the checkpoint before it."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.checkpoint_folders import NUMBERS, refusal, write

from gensim_tfw2v.checkpoints import arrays as arrays_module
from gensim_tfw2v.checkpoints.errors import CheckpointError
from gensim_tfw2v.checkpoints.folder import Checkpoint, CheckpointFolder
from gensim_tfw2v.files.checked_json import with_checksum


def test_every_flipped_bit_is_refused_with_the_file_and_the_checkpoint_before(
    folder: CheckpointFolder, small_pieces: None
) -> None:
    former, newest = write(folder).path, write(folder, inputs=NUMBERS).path
    files = sorted(newest.iterdir())
    assert [path.name for path in files] == ["inputs.array", "manifest.json"]
    for path in files:
        with path.open("r+b", buffering=0) as file:
            for place, byte in enumerate(path.read_bytes()):
                for changed in [byte ^ 1 << bit for bit in range(8)]:
                    os.pwrite(file.fileno(), bytes([changed]), place)
                    message = refusal(newest)
                    assert str(path) in message
                    assert message.endswith(f"; resume from {former} instead, the checkpoint before it")
                os.pwrite(file.fileno(), bytes([byte]), place)
    Checkpoint(newest).check()


@pytest.mark.parametrize("name", ["manifest.json", "inputs.array"])
@pytest.mark.parametrize("change", ["cut", "longer", "empty", "missing", "folder"])
def test_a_file_of_another_length_is_refused(folder: CheckpointFolder, name: str, change: str) -> None:
    former, newest = write(folder).path, write(folder, inputs=NUMBERS).path
    path, data = newest / name, (newest / name).read_bytes()
    path.unlink()
    if change == "folder":
        path.mkdir()
    elif change != "missing":
        path.write_bytes({"cut": data[:-1], "longer": data + b"\n", "empty": b""}[change])
    assert str(path) in refusal(newest)
    assert str(former) in refusal(newest)
    said = rf"{re.escape(str(path))} .* resume from {re.escape(str(former))} "
    if name == "inputs.array":
        for read in (Checkpoint(newest).array, lambda name: next(Checkpoint(newest).pieces(name))):
            with pytest.raises(
                CheckpointError, match=rf"{re.escape(str(path))} .* resume from {re.escape(str(former))} "
            ):
                read("inputs")
    else:
        with pytest.raises(CheckpointError, match=said):
            folder.newest()


def test_a_piece_that_is_whole_is_read_before_a_damaged_one(folder: CheckpointFolder, small_pieces: None) -> None:
    checkpoint = write(folder, inputs=NUMBERS)
    with (checkpoint.path / "inputs.array").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x77")
    pieces = checkpoint.pieces("inputs")
    assert next(pieces)[0] == 0
    with pytest.raises(
        CheckpointError, match="bytes 32 to 48 do not fit their checksum; there is no checkpoint before"
    ):
        next(pieces)


def test_the_checkpoint_to_resume_from_is_one_that_seems_whole(folder: CheckpointFolder) -> None:
    paths = [write(folder, inputs=NUMBERS).path for _ in range(3)]
    for path in paths[1:]:
        (path / "inputs.array").write_bytes(b"")
    assert refusal(paths[2]).endswith(f"resume from {paths[0]} instead, the checkpoint before it")
    (paths[0] / "manifest.json").unlink()
    assert refusal(paths[2]).endswith("; there is no checkpoint before it")


def test_a_checkpoint_in_another_folder_has_none_before_it(folder: CheckpointFolder, tmp_path: Path) -> None:
    write(folder)
    copy = Path(shutil.copytree(write(folder, inputs=NUMBERS).path, tmp_path / "copy"))
    np.testing.assert_array_equal(Checkpoint(copy).array("inputs"), NUMBERS)
    (copy / "inputs.array").unlink()
    assert refusal(copy).endswith("; there is no checkpoint before it")


def forged(path: Path, **changes: Any) -> None:
    """Change fields of a manifest or notes and give them a checksum that fits."""
    fields = json.loads(path.read_bytes())
    del fields["checksum"]
    path.write_bytes(with_checksum(json.dumps(fields | changes))[0])


LAYOUT = {"file": "inputs.array", "shape": [3, 4], "dtype": "<f4", "piece_rows": 100, "crc32": [0]}


@pytest.mark.parametrize(
    "changes",
    [
        {"content": 5},
        {"arrays": None},
        {"arrays": [5]},
        {"arrays": {"inputs": 5}},
        {"arrays": {"inputs": {}}},
        {"arrays": {"../inputs": LAYOUT}},
        *(
            {"arrays": {"inputs": LAYOUT | change}}
            for change in (
                {"file": "../inputs.array"},
                {"shape": [-3, 4]},
                {"shape": []},
                {"shape": [3, True]},
                {"shape": [3.0, 4]},
                {"shape": [2**60, 2**60]},
                {"shape": [2**40, 4], "piece_rows": 2**40},
                {"shape": "34"},
                {"dtype": "|O8"},
                {"dtype": ["<f4"]},
                {"dtype": "f4,f4"},
                {"piece_rows": 0},
                {"piece_rows": "1"},
                {"piece_rows": 1},
                {"crc32": None},
                {"crc32": [-1]},
                {"crc32": [2**32]},
                {"crc32": ["0"]},
                {"crc32": []},
            )
        ),
        {"version": 0},
        {"version": "1"},
        {"version": True},
        {"format": "gensim_tfw2v notes on checkpoints"},
        {"format": [1]},
    ],
    ids=lambda changes: json.dumps(changes)[-60:],
)
def test_a_manifest_of_odd_fields_is_refused(folder: CheckpointFolder, changes: dict[str, Any]) -> None:
    former, newest = write(folder).path, write(folder, inputs=NUMBERS).path
    forged(newest / "manifest.json", **changes)
    message = refusal(newest)
    assert str(newest) in message
    assert str(former) in message


@pytest.mark.parametrize("text", ["[1]", "5", '{"a": 1}', '{"format": ' + "[" * 5000, "\x00}"])
def test_a_manifest_that_is_none_is_refused_though_its_checksum_fits(folder: CheckpointFolder, text: str) -> None:
    path = write(folder).path
    (path / "manifest.json").write_bytes(with_checksum(text)[0])
    assert str(path / "manifest.json") in refusal(path)


@pytest.mark.parametrize("name", ["manifest.json", "notes.json"])
def test_a_newer_format_says_which_it_is_and_to_update(folder: CheckpointFolder, name: str) -> None:
    checkpoint = write(folder)
    folder.note({})
    path = checkpoint.path / name if name == "manifest.json" else folder.path / name
    forged(path, version=2)
    read = folder.newest if name == "manifest.json" else folder.notes
    with pytest.raises(CheckpointError, match=rf"{name} has version 2 .* update gensim_tfw2v"):
        read()


def test_nothing_that_reads_checkpoints_runs_what_it_reads() -> None:
    names = set()
    for module in Path(arrays_module.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names |= {alias.name for alias in node.names} | {getattr(node, "module", None)}
            elif isinstance(node, ast.Attribute):
                names.add(node.attr)
    assert "json" in names
    assert not names & {"pickle", "marshal", "shelve", "load", "memmap", "fromfile", "eval", "exec"}


def test_every_flipped_bit_of_notes_is_refused(folder: CheckpointFolder) -> None:
    folder.note({"recoveries": 1})
    path = folder.path / "notes.json"
    with path.open("r+b", buffering=0) as file:
        for place, byte in enumerate(path.read_bytes()):
            for changed in [byte ^ 1 << bit for bit in range(8)]:
                os.pwrite(file.fileno(), bytes([changed]), place)
                with pytest.raises(CheckpointError, match=r"notes\.json is damaged"):
                    folder.notes()
            os.pwrite(file.fileno(), bytes([byte]), place)
    assert folder.notes() == {"recoveries": 1}


@pytest.mark.parametrize("content", [None, [1]])
def test_notes_of_another_kind_are_refused(folder: CheckpointFolder, content: Any) -> None:
    folder.note({})
    forged(folder.path / "notes.json", content=content)
    with pytest.raises(CheckpointError, match=r"notes\.json is damaged"):
        folder.notes()
