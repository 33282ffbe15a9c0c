"""Checkpoints on disk: what is written is read, damage is refused, and each is whole or not there."""

from __future__ import annotations

import ast
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from child_process import environment

from gensim_tfw2v.checkpoints import arrays as arrays_module
from gensim_tfw2v.checkpoints import unfinished
from gensim_tfw2v.checkpoints.arrays import ArrayToWrite
from gensim_tfw2v.checkpoints.errors import CheckpointError
from gensim_tfw2v.checkpoints.folder import Checkpoint, CheckpointFolder
from gensim_tfw2v.files.checked_json import with_checksum
from gensim_tfw2v.runtime import processes

PROGRAM = Path(__file__).with_name("stopped_checkpoints.py")
DISK_BYTES = 2**20
NUMBERS = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture
def folder(tmp_path: Path) -> CheckpointFolder:
    """Return an empty folder of checkpoints."""
    made = CheckpointFolder(tmp_path / "checkpoints")
    made.prepare()
    return made


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make pieces of 32 bytes, so that small arrays have several."""
    monkeypatch.setattr(arrays_module, "PIECE_BYTES", 32)


def write(folder: CheckpointFolder, **arrays: Any) -> Checkpoint:
    """Write a checkpoint of arrays in memory."""
    return folder.write({"number": 1}, {name: ArrayToWrite.of(array) for name, array in arrays.items()})


def refusal(path: Path) -> str:
    """Return why a checkpoint is refused when all of it is read."""
    with pytest.raises(CheckpointError) as caught:
        Checkpoint(path).check()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def names_in(folder: CheckpointFolder) -> list[str]:
    return sorted(os.listdir(folder.path))


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


def leftover(folder: CheckpointFolder, machine: str, process: int, start: int) -> Path:
    """Make the unfinished folder of a process."""
    path = folder.path / f".tfw2v-checkpoint-{machine}-{process}-{start}-0123456789abcdef"
    path.mkdir()
    (path / "inputs.array").write_bytes(b"12")
    return path


def ended_process() -> int:
    """Return the number of a process that has ended."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_only_what_processes_that_ended_left_behind_is_removed(folder: CheckpointFolder) -> None:
    here, running = processes.machine_name(), os.getppid()
    start = processes.start_time(running)
    assert start
    of_running = leftover(folder, here, running, start)
    unknown = leftover(folder, here, running, 0)  # as on a system that does not say when a process began
    former = leftover(folder, here, running, start - 1)  # of one that had this number before
    ended = leftover(folder, here, ended_process(), start)
    interrupted = leftover(folder, here, os.getpid(), start)  # which this process does not write any more
    elsewhere, long_ago = leftover(folder, "0" * 16, running, start), leftover(folder, "1" * 16, running, start)
    for path in (long_ago / "inputs.array", long_ago):
        os.utime(path, (0, path.stat().st_mtime - unfinished._ABANDONED_SECONDS - 60))
    of_a_model = folder.path / ".tfw2v-kept"
    of_a_model.mkdir()
    folder.prepare()
    assert not any(path.exists() for path in (former, ended, interrupted, long_ago))
    assert set(folder.path.iterdir()) == {of_running, unknown, elsewhere, of_a_model}


def test_a_process_that_nobody_has_waited_for_has_ended(folder: CheckpointFolder) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    start = processes.start_time(child.pid)
    assert start
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    left = leftover(folder, processes.machine_name(), child.pid, start)
    folder.prepare()
    assert not left.exists()
    child.communicate()


def test_on_a_system_that_does_not_say_when_processes_began_they_are_known_to_run(
    folder: CheckpointFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(processes, "_PROCESSES", tmp_path / "none")
    assert processes.start_time(os.getppid()) == 0
    kept = leftover(folder, processes.machine_name(), os.getppid(), 5)
    ended = leftover(folder, processes.machine_name(), ended_process(), 5)
    folder.prepare()
    assert kept.exists()
    assert not ended.exists()
    write(folder, inputs=NUMBERS).check()


WRITER = """
import sys
import numpy as np
from gensim_tfw2v.checkpoints.arrays import ArrayToWrite
from gensim_tfw2v.checkpoints.folder import CheckpointFolder
def pieces():
    yield np.ones((1, 4), np.float32)
    print("writing", flush=True)
    sys.stdin.read()
    yield np.ones((1, 4), np.float32)
CheckpointFolder(sys.argv[1]).write({"of": "child"}, {"inputs": ArrayToWrite((2, 4), np.dtype(np.float32), pieces)})
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT, None])
def test_what_a_living_process_writes_is_left_alone(folder: CheckpointFolder, ending: int | None) -> None:
    command = [
        sys.executable,
        "-c",
        f"import signal; signal.signal(2, signal.default_int_handler){WRITER}",
        folder.path,
    ]
    child = subprocess.Popen(
        command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert child.stdout is not None
    assert select.select([child.stdout], [], [], 60)[0]
    assert child.stdout.readline() == b"writing\n"
    (left,) = names_in(folder)
    folder.prepare()
    assert names_in(folder) == [left]
    assert folder.newest() is None
    if ending is not None:
        child.send_signal(ending)
    child.communicate(timeout=60)
    if ending == signal.SIGKILL:
        assert names_in(folder) == [left]
        folder.prepare()
    assert names_in(folder) == (["checkpoint-000001"] if ending is None else [])


def stopped(which: str, tmp_path: Path) -> list[dict[str, Any]]:
    """Run the program that stops writers of checkpoints."""
    in_memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=in_memory if os.access(in_memory, os.W_OK) else tmp_path) as place:
        command = [sys.executable, PROGRAM, f"{place}/checkpoints", which]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_kill_at_a_random_moment_leaves_whole_checkpoints(tmp_path: Path) -> None:
    found = stopped("random", tmp_path)
    assert len(found) == 10
    for result in found:
        numbers = result["numbers"]  # those that were to be removed may still be there, after several kills too
        assert len(numbers) >= 2
        assert numbers == list(range(numbers[0], numbers[-1] + 1))
        assert result["after"] == []


def test_however_and_whenever_writing_is_stopped_checkpoints_are_whole(tmp_path: Path) -> None:
    found = stopped("every", tmp_path)
    assert len(found) > 40
    assert {result["how"] for result in found} == {"kill", "error", "interrupt"}
    assert {tuple(result["numbers"]) for result in found} == {(1, 2), (1, 2, 3), (2, 3)}
    for result in found:
        assert result["note"] in (2, 3)
        assert result["after"] == []
        was_cleaning = result["note"] == 3  # and an empty folder is left until the next checkpoint
        assert result["how"] == "kill" or was_cleaning or result["left"] == [], result
        for message in result["raised"] if result["how"] == "error" else ():
            assert result["note"] == 2
            assert re.search(r"cannot write checkpoints.*: No space left.*: '/.*/checkpoints'|cannot be read", message)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Make a file system of a megabyte."""
    place = tmp_path / "small disk"
    place.mkdir()
    mount = shutil.which("mount")
    options = ["-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(place)]
    if mount is None or os.geteuid() != 0 or subprocess.run([mount, *options], capture_output=True).returncode != 0:
        pytest.skip("only root, and not in every container, can mount a small file system")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_full_disk_leaves_former_checkpoints(small_disk: Path) -> None:
    folder = CheckpointFolder(small_disk, keep=1)
    folder.prepare()
    half = np.ones(DISK_BYTES // 8, np.float32)
    write(folder, inputs=half)
    folder.note({"a": 1})
    before = names_in(folder)
    for _ in range(3):
        with pytest.raises(OSError, match=r"those that are there stay: No space left on device: '.*small disk'"):
            write(folder, inputs=half, outputs=half)
        assert names_in(folder) == before
    with pytest.raises(OSError, match="No space left"):
        folder.note({"a": "b" * DISK_BYTES})
    assert folder.notes() == {"a": 1}
    Checkpoint(folder.path).check()
    np.testing.assert_array_equal(Checkpoint(folder.path).array("inputs"), half)
