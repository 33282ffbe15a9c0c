"""Checkpoints on disk: what is written is read, and what cannot be written is refused."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.checkpoint_folders import NUMBERS, names_in, write
from support.child_process import environment

from gensim_tfw2v.checkpoints import arrays as arrays_module
from gensim_tfw2v.checkpoints.arrays import ArrayToWrite
from gensim_tfw2v.checkpoints.errors import CheckpointError
from gensim_tfw2v.checkpoints.folder import Checkpoint, CheckpointFolder

ARRAYS = {
    "float32": NUMBERS,
    "int64": np.array([-(2**63), 2**63 - 1, 0]),
    "uint8": np.frombuffer("é中".encode(), np.uint8),
    "bool": np.array([True, False, True]),
    "float16": np.array([[0.5], [np.nan], [-np.inf]], np.float16),
    "big_endian": np.array([1, 2**40], ">i8"),
    "no_rows": np.zeros((0, 7), np.float32),
    "no_items": np.zeros(0, np.int32),
    "no_columns": np.zeros((5, 0), np.float64),
    "every_second": np.arange(40, dtype=np.int32)[::-2],
    "transposed": np.arange(40, dtype=np.float32).reshape(4, 10).T,
    "some_columns": np.arange(40, dtype=np.float64).reshape(4, 10)[:, 3:9:2],
    "read_only": np.broadcast_to(np.float32(3), (7, 4)),
}


@pytest.mark.parametrize("size", [32, 2**22], ids=["pieces", "a-piece"])
def test_arrays_are_read_as_they_were_written(
    folder: CheckpointFolder, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(arrays_module, "PIECE_BYTES", size)
    written = write(folder, **ARRAYS)
    for checkpoint in (written, Checkpoint(written.path), Checkpoint(folder.path), folder.newest()):
        assert checkpoint is not None
        assert checkpoint.arrays == {
            name: (array.shape, array.dtype.newbyteorder("=")) for name, array in ARRAYS.items()
        }
        checkpoint.check()
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(checkpoint.array(name), array)


def test_an_array_read_whole_may_be_changed(folder: CheckpointFolder) -> None:
    checkpoint = write(folder, inputs=NUMBERS)
    found = checkpoint.array("inputs")
    found += 1
    np.testing.assert_array_equal(checkpoint.array("inputs"), NUMBERS)


def test_an_array_is_read_in_pieces_of_whole_rows(folder: CheckpointFolder, small_pieces: None) -> None:
    checkpoint = write(folder, inputs=NUMBERS, wide=np.ones((2, 100)))
    pieces = list(checkpoint.pieces("inputs"))
    assert [(first, len(rows)) for first, rows in pieces] == [(0, 2), (2, 1)]
    np.testing.assert_array_equal(np.concatenate([rows for _, rows in pieces]), NUMBERS)
    assert [(first, rows.shape) for first, rows in checkpoint.pieces("wide")] == [(0, (1, 100)), (1, (1, 100))]


@pytest.mark.parametrize("sizes", [[3], [1, 1, 1], [2, 0, 1], [0, 3, 0]])
def test_rows_may_come_any_number_at_a_time(folder: CheckpointFolder, small_pieces: None, sizes: list[int]) -> None:
    pieces = np.split(NUMBERS, np.cumsum(sizes)[:-1])
    checkpoint = folder.write({}, {"inputs": ArrayToWrite((3, 4), np.dtype(np.float32), lambda: iter(pieces))})
    np.testing.assert_array_equal(checkpoint.array("inputs"), NUMBERS)


def test_views_of_an_array_in_memory_are_its_pieces(small_pieces: None) -> None:
    pieces = list(ArrayToWrite.of(NUMBERS).pieces())
    assert [len(rows) for rows in pieces] == [2, 1]
    assert all(np.shares_memory(rows, NUMBERS) for rows in pieces)


def test_an_array_that_training_changes_meanwhile_fits_its_checksum(
    folder: CheckpointFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers, crc32 = np.zeros((3, 4), np.float32), zlib.crc32

    def change_after(*arguments: Any) -> int:
        found = crc32(*arguments)
        numbers[:] += 1
        return found

    with monkeypatch.context() as patch:
        patch.setattr(zlib, "crc32", change_after)
        checkpoint = write(folder, inputs=numbers)
    assert numbers.min() == 1
    checkpoint.check()


def test_an_array_is_read_into_one_that_fits(folder: CheckpointFolder) -> None:
    checkpoint = write(folder, inputs=NUMBERS)
    target = np.zeros((3, 8), np.float32)[:, ::2]
    checkpoint.read_into("inputs", target)
    np.testing.assert_array_equal(target, NUMBERS)
    for wrong in (np.zeros((4, 4), np.float32), np.zeros((3, 4)), np.zeros(12, np.float32)):
        with pytest.raises(CheckpointError, match=r"'inputs' of .* does not fit into one of shape"):
            checkpoint.read_into("inputs", wrong)


def test_an_array_that_is_not_there_is_named(folder: CheckpointFolder) -> None:
    checkpoint = write(folder, inputs=NUMBERS, outputs=NUMBERS)
    for read in (checkpoint.array, lambda name: list(checkpoint.pieces(name))):
        with pytest.raises(CheckpointError, match=r"no array 'nodes'; it has inputs, outputs"):
            read("nodes")


def test_content_is_read_as_it_was_written(folder: CheckpointFolder) -> None:
    content = {
        "epoch": 3,
        "loss": [0.1, float("inf")],
        "words": ["é", "\ud800", "\n"],
        "nested": {"": None},
        "big": 10**30,
    }
    assert folder.write(content, {}).content == content
    assert Checkpoint(folder.path).content == content


@pytest.mark.parametrize(
    "content", [{"a": {1}}, {1: 2}, {"a": [{None: 1}]}, {"a": np.float32(1)}, {"a": b""}, [1], None]
)
def test_content_that_json_cannot_hold_is_refused(folder: CheckpointFolder, content: Any) -> None:
    for function in (lambda: folder.write(content, {}), lambda: folder.note(content)):
        with pytest.raises(CheckpointError, match="content"):
            function()
    assert names_in(folder) == []


def test_content_that_holds_itself_is_refused(folder: CheckpointFolder) -> None:
    content: dict[str, Any] = {}
    content["a"] = [content]
    with pytest.raises(CheckpointError, match="content"):
        folder.write(content, {})


@pytest.mark.parametrize("name", ["", "a/b", "..", ".a", "é", "a b", "a\n", "a" * 101, 5])
def test_a_name_that_is_none_for_an_array_is_refused(folder: CheckpointFolder, name: Any) -> None:
    with pytest.raises(CheckpointError, match="no name for an array"):
        folder.write({}, {name: ArrayToWrite.of(NUMBERS)})
    assert names_in(folder) == []


@pytest.mark.parametrize(
    "array", [np.float32(1), np.zeros((1, 1, 1)), ["word"], [None], np.zeros(2, np.complex64), np.zeros(2, "M8[s]")]
)
def test_an_array_of_another_kind_is_refused(array: Any) -> None:
    with pytest.raises(CheckpointError, match="an array in a checkpoint has one"):
        ArrayToWrite.of(array)


@pytest.mark.parametrize("shape", [(-1,), (2.5, 1), (2**49, 1), ("3",), 3])
def test_a_shape_that_is_none_is_refused(shape: Any) -> None:
    with pytest.raises(CheckpointError, match="shape"):
        ArrayToWrite(shape, np.dtype(np.float32), lambda: [])


@pytest.mark.parametrize(
    "pieces",
    [
        [],
        [NUMBERS[:2]],
        [NUMBERS, NUMBERS[:1]],
        [NUMBERS[:, :3]],
        [NUMBERS.astype(np.float64)],
        [NUMBERS.reshape(-1)],
        [NUMBERS.tolist()],
    ],
    ids=["none", "too few", "too many", "narrow", "type", "flat", "list"],
)
def test_pieces_that_do_not_make_the_array_are_refused(folder: CheckpointFolder, pieces: list[Any]) -> None:
    write(folder, inputs=NUMBERS)
    arrays = {"whole": ArrayToWrite.of(NUMBERS), "outputs": ArrayToWrite((3, 4), NUMBERS.dtype, lambda: iter(pieces))}
    with pytest.raises(CheckpointError, match=r"'outputs' was to have shape \(3, 4\) and type float32, but"):
        folder.write({}, arrays)
    assert names_in(folder) == ["checkpoint-000001"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ConnectionError("of the server"), RuntimeError()])
def test_an_error_or_interrupt_in_the_midst_leaves_former_checkpoints(
    folder: CheckpointFolder, error: BaseException
) -> None:
    def pieces() -> Iterator[Any]:
        yield NUMBERS[:1]
        raise error

    write(folder, inputs=NUMBERS)
    with pytest.raises(type(error)) as caught:
        folder.write({}, {"inputs": ArrayToWrite((3, 4), NUMBERS.dtype, pieces)})
    assert caught.value is error  # which says nothing of files
    assert names_in(folder) == ["checkpoint-000001"]


@pytest.mark.parametrize("keep", [1, 3])
def test_the_newest_checkpoints_are_kept(tmp_path: Path, keep: int) -> None:
    folder = CheckpointFolder(tmp_path / "checkpoints", keep=keep)
    folder.prepare()
    for number in range(1, 6):
        folder.write({"number": number}, {"inputs": ArrayToWrite.of(NUMBERS)})
        expected = [f"checkpoint-{kept:06d}" for kept in range(1, number + 1)][-keep:]
        assert [path.name for path in folder.checkpoints()] == names_in(folder) == expected
        assert Checkpoint(folder.path).content == {"number": number}


def test_at_least_one_checkpoint_is_kept(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one checkpoint"):
        CheckpointFolder(tmp_path, keep=0)


def test_numbers_go_on_from_the_largest(folder: CheckpointFolder) -> None:
    write(folder).path.rename(folder.path / "checkpoint-999999")
    assert write(folder).path.name == "checkpoint-1000000"
    assert [path.name for path in folder.checkpoints()] == ["checkpoint-999999", "checkpoint-1000000"]


def test_an_old_checkpoint_that_cannot_be_removed_stays_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(path: Path) -> None:
        raise PermissionError(13, "not allowed")

    folder = CheckpointFolder(tmp_path, keep=1)
    write(folder)
    monkeypatch.setattr("gensim_tfw2v.checkpoints.folder.remove_folder", fail)
    assert write(folder).path.name == "checkpoint-000002"
    assert "checkpoint-000001: not allowed" in caplog.text


def test_two_folders_know_nothing_of_each_other(tmp_path: Path) -> None:
    first, second = (CheckpointFolder(tmp_path / name, keep=1) for name in ("first", "second"))
    for folder in (first, second):
        folder.prepare()
    for number in range(3):
        first.write({"number": number}, {})
    second.write({"number": 7}, {})
    second.note({"of": "second"})
    assert names_in(first) == ["checkpoint-000003"]
    assert names_in(second) == ["checkpoint-000001", "notes.json"]
    assert (Checkpoint(first.path).content, Checkpoint(second.path).content) == ({"number": 2}, {"number": 7})


def test_a_folder_may_be_written_while_another_object_writes_it(folder: CheckpointFolder) -> None:
    def pieces() -> Iterable[Any]:
        CheckpointFolder(folder.path).prepare()
        assert write(CheckpointFolder(folder.path), inputs=NUMBERS).path.name == "checkpoint-000001"
        yield NUMBERS

    assert folder.write({}, {"inputs": ArrayToWrite((3, 4), NUMBERS.dtype, pieces)}).path.name == "checkpoint-000002"
    Checkpoint(folder.path).check()


def test_where_there_is_no_checkpoint_an_error_says_so(folder: CheckpointFolder, tmp_path: Path) -> None:
    assert folder.newest() is None
    assert folder.checkpoints() == []
    assert CheckpointFolder(tmp_path / "none").newest() is None
    assert CheckpointFolder(tmp_path / "none").checkpoints() == []
    (tmp_path / "file").write_text("")
    for path, why in (
        (folder.path, "holds no"),
        (tmp_path / "none", "is no folder"),
        (tmp_path / "file", "is no folder"),
    ):
        with pytest.raises(CheckpointError, match=f"{re.escape(str(path))} {why}"):
            Checkpoint(path)


def test_a_relative_path_stays_right_in_another_working_directory(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = CheckpointFolder("checkpoints")
    folder.prepare()
    checkpoint = write(folder, inputs=NUMBERS)
    monkeypatch.chdir("/")
    checkpoint.check()
    write(folder)
    assert len(os.listdir(scratch / "checkpoints")) == 2


def test_notes_replace_former_ones(folder: CheckpointFolder) -> None:
    assert folder.notes() == {}
    for content in ({"recoveries": 1}, {"recoveries": 2, "why": "é"}):
        folder.note(content)
        assert folder.notes() == content
        assert names_in(folder) == ["notes.json"]


def test_preparing_makes_the_folder_and_those_above_it(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path / "a" / "b")
    folder.prepare()
    folder.prepare()
    assert names_in(folder) == []


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(NotADirectoryError, match=rf"cannot write checkpoints.*this is a file.*{path}"):
        CheckpointFolder(path).prepare()


def test_a_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path / "none")
    for write_something in (folder.note, lambda content: folder.write(content, {})):
        with pytest.raises(FileNotFoundError, match=r"cannot write checkpoints.*none'"):
            write_something({})


def test_a_folder_that_cannot_be_written_is_named_at_the_start(tmp_path: Path) -> None:
    script = "import sys, os; from gensim_tfw2v.checkpoints.folder import CheckpointFolder\n"
    script += "if os.geteuid() == 0: os.setuid(65534)\nCheckpointFolder(sys.argv[1]).prepare()"
    with tempfile.TemporaryDirectory() as place:  # which others may enter
        os.chmod(place, 0o555)
        done = subprocess.run(
            [sys.executable, "-c", script, place], env=environment(), capture_output=True, text=True, timeout=120
        )
    assert re.search(r"PermissionError: .*cannot write checkpoints.*Permission denied: '" + place, done.stderr)
