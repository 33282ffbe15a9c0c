"""Models and vectors on disk are whole or not there, whatever stops their writing."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import logging
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec
from support.child_process import environment

from gensim_tfw2v import TFWord2Vec, export_projector
from gensim_tfw2v.files.formats import written_whole
from gensim_tfw2v.files.models import read_vectors, write_model
from gensim_tfw2v.files.whole_files import written_file

PROGRAM = Path(__file__).parents[1] / "support" / "stopped_saves.py"
OLD, NEW = [1.0], [2.0]  # numbers in the models of that program


def model_of(value: float = 1.0, words: int = 4, model_class: type[Any] = TFWord2Vec) -> Any:
    """Return an untrained model whose matrices are full of a number."""
    model = model_class(min_count=1, vector_size=8)
    model.build_vocab([[f"word{number}" for number in range(words)]])
    model.wv.vectors[:] = model.syn1neg[:] = value
    return model


def assert_whole(path: Path, value: float, load: Any = TFWord2Vec.load) -> None:
    """Fail unless a model loads whose matrices are full of a number."""
    model = load(str(path))
    assert set(np.unique(model.wv.vectors)) == set(np.unique(model.syn1neg)) == {value}


def stopped_saves(folder: Path, how: str, sep_limit: int) -> list[dict[str, Any]]:
    """Save over an old model, stopped at one moment after the other; return what became of the model each time."""
    in_memory = Path("/dev/shm")  # a disk would take a minute for all of it
    with tempfile.TemporaryDirectory(dir=in_memory if os.access(in_memory, os.W_OK) else folder) as place:
        command = [sys.executable, PROGRAM, f"{place}/models", how, str(sep_limit)]
        result = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    found: list[dict[str, Any]] = json.loads(result.stdout.splitlines()[-1])
    assert len(found) >= 10
    return found


def test_a_kill_during_a_save_leaves_the_old_or_the_new_model_or_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    found = stopped_saves(tmp_path, "kill", 0)
    outcomes = [result.get("numbers", "error") for result in found]
    assert outcomes == sorted(outcomes, key=[OLD, "error", NEW].index)
    assert "error" in outcomes
    for result in found:
        if "error" in result:
            assert "saving it was cut off" in result["error"]
            assert [name for name in result["left"] if name not in result["error"]] == []
            assert result["repaired"] == [{"numbers": NEW}, {"numbers": OLD}]


@pytest.mark.slow
def test_a_kill_during_a_save_of_a_single_file_leaves_the_old_or_the_new_model(tmp_path: Path) -> None:
    found = stopped_saves(tmp_path, "kill", 10**9)
    assert [result.get("numbers") for result in found if result.get("numbers") not in (OLD, NEW)] == []


@pytest.mark.parametrize("how", ["error", "interrupt"])
@pytest.mark.parametrize("sep_limit", [0, pytest.param(10**9, marks=pytest.mark.slow)])
def test_an_error_or_interrupt_during_a_save_leaves_the_old_model_and_no_other_file(
    tmp_path: Path, how: str, sep_limit: int
) -> None:
    found = stopped_saves(tmp_path, how, sep_limit)
    for result in found:
        was_cleaning = result["moment"].split("/")[-1].startswith(".tfw2v-") and result["numbers"] == NEW
        assert was_cleaning or not [name for name in result["left"] if name.startswith(".")], result
        assert result["numbers"] in (OLD, NEW), result
        if how == "error" and result["raised"]:
            assert "model'" in result["raised"][0]
            assert ".tfw2v-" not in result["raised"][0]
            assert result["numbers"] == OLD


def test_a_kill_while_the_first_model_of_a_name_is_moved_is_explained(tmp_path: Path) -> None:
    with written_whole(tmp_path / "model") as unfinished:
        model_of(2.0).save(str(unfinished), sep_limit=0)
        copy = shutil.copytree(unfinished.parents[1], tmp_path / "elsewhere" / "kept")
    for file in tmp_path.glob("model*"):
        file.unlink()
    copy.rename(tmp_path / ".tfw2v-kept")
    (tmp_path / ".tfw2v-kept" / "unfinished").rename(tmp_path / ".tfw2v-kept" / "new")
    (tmp_path / ".tfw2v-kept" / "new" / "model.syn1neg.npy").rename(tmp_path / "model.syn1neg.npy")
    with pytest.raises(FileNotFoundError, match=r"cut off.*'model.syn1neg.npy'\. For the new.*/new' to .*'; then"):
        TFWord2Vec.load(str(tmp_path / "model"))
    with pytest.raises(ValueError, match="cut off"):
        read_vectors(tmp_path / "model")


def test_a_disk_that_fails_for_good_while_files_are_moved_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, replace = tmp_path / "model", os.replace
    model_of(1.0).save(path, sep_limit=0)

    def fail_once_an_array_is_moved(source: Any, target: Any) -> None:
        if not (tmp_path / "model.syn1neg.npy").exists():
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail_once_an_array_is_moved)
        with pytest.raises(OSError, match=r"cannot write: Input/output error; model .* cut off .*/old'; then remove"):
            model_of(2.0).save(path, sep_limit=0)
    (kept,) = tmp_path.glob(".tfw2v-*")
    for file in (kept / "old").iterdir():
        file.rename(tmp_path / file.name)
    assert_whole(path, 1.0)


@pytest.mark.parametrize("sep_limit", [0, 10**9])
def test_a_full_disk_leaves_the_old_model_whole(small_disk: Path, sep_limit: int) -> None:
    path = small_disk / "model"
    model_of(1.0, 5_000).save(str(path), sep_limit=sep_limit)  # half of the disk
    before = sorted(os.listdir(small_disk))
    with pytest.raises(OSError, match=r"what was there before stays.*small disk/model'"):
        model_of(2.0, 9_000).save(str(path), sep_limit=sep_limit)
    assert_whole(path, 1.0)
    assert sorted(os.listdir(small_disk)) == before


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.bin", "vectors.kv"])
@pytest.mark.parametrize("by_command", [True, False])
def test_a_full_disk_leaves_old_vectors_whole(small_disk: Path, name: str, by_command: bool) -> None:
    path = small_disk / name
    small, large = model_of(1.0, 1_000), model_of(2.0, 30_000)
    small.export_vectors(path)
    before = sorted(os.listdir(small_disk))
    with pytest.raises(OSError, match=name):
        if by_command:
            write_model(large, path, {".txt": "text", ".bin": "binary", ".kv": "keyed-vectors"}[path.suffix])
        else:
            large.export_vectors(path)
    np.testing.assert_array_equal(read_vectors(path).vectors, small.wv.vectors)
    assert sorted(os.listdir(small_disk)) == before


def test_a_full_disk_leaves_the_old_export_for_the_projector_whole(small_disk: Path) -> None:
    export_projector(model_of(1.0, 1_000).wv, small_disk)
    files = [file for file in small_disk.rglob("*") if file.is_file()]
    before = {file: file.read_bytes() for file in files}
    with pytest.raises(OSError, match="No space left"):
        export_projector(model_of(2.0, 30_000).wv, small_disk, top=30_000)
    assert {file: file.read_bytes() for file in small_disk.rglob("*") if file.is_file()} == before


def test_arrays_that_the_new_model_does_not_have_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "model"
    model_of(1.0).save(str(path), sep_limit=0)
    (tmp_path / "model.notes.npy").write_text("somebody else's")
    model_of(2.0).save(str(path))
    assert sorted(os.listdir(tmp_path)) == ["model", "model.notes.npy"]
    assert_whole(path, 2.0, Word2Vec.load)


def test_an_array_of_the_users_own_is_saved_beside_the_model(word2vec_class: type[Any], scratch: Path) -> None:
    model = model_of(model_class=word2vec_class)
    model.topics = np.arange(6.0)
    model.save("model", separately=["topics"])
    assert sorted(os.listdir()) == ["model", "model.topics.npy"]
    np.testing.assert_array_equal(word2vec_class.load("model").topics, np.arange(6.0))


def test_a_model_mapped_into_memory_is_saved_over_itself(scratch: Path) -> None:
    model_of(1.0).save("model", sep_limit=0)
    loaded = TFWord2Vec.load("model", mmap="r")
    loaded.save("model", sep_limit=0)
    assert_whole(Path("model"), 1.0)
    assert set(np.unique(loaded.wv.vectors)) == {1.0}


def test_an_open_file_takes_a_model(word2vec_class: type[Any], scratch: Path) -> None:
    model = model_of(3.0, model_class=word2vec_class)
    memory = io.BytesIO()
    model.save(memory)
    with open("model", "wb") as file:
        model.save(file)
    Path("copy").write_bytes(memory.getvalue())
    assert_whole(Path("model"), 3.0, word2vec_class.load)
    assert_whole(Path("copy"), 3.0, word2vec_class.load)


def test_an_address_takes_a_model(word2vec_class: type[Any], tmp_path: Path) -> None:
    model_of(3.0, model_class=word2vec_class).save(f"file://{tmp_path}/model")
    assert_whole(tmp_path / "model", 3.0, word2vec_class.load)


def test_the_home_folder_may_be_a_tilde(
    word2vec_class: type[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    model_of(3.0, model_class=word2vec_class).save("~/model")
    assert_whole(tmp_path / "model", 3.0)
    assert_whole(Path("~/model"), 3.0, word2vec_class.load)


@pytest.mark.parametrize("suffix", [".gz", ".bz2"])
def test_a_model_is_saved_compressed_over_an_old_one(word2vec_class: type[Any], tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"model{suffix}"
    for value in (1.0, 2.0):
        model_of(value, model_class=word2vec_class).save(str(path), sep_limit=0)
        assert_whole(path, value, word2vec_class.load)
    assert (tmp_path / f"model{suffix}.syn1neg.npz").exists()


def test_a_path_object_takes_a_model(tmp_path: Path) -> None:
    model_of(3.0).save(tmp_path / "model", sep_limit=0)
    assert set(np.unique(TFWord2Vec.load(tmp_path / "model").syn1neg)) == {3.0}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
def test_a_pipe_is_written_to_and_not_replaced(word2vec_class: type[Any], tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    model_of(3.0, model_class=word2vec_class).save(str(pipe))
    reader.join()
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    (tmp_path / "model").write_bytes(read[0])
    assert_whole(tmp_path / "model", 3.0)


@pytest.mark.parametrize("sep_limit", [0, 10**9])
def test_a_link_stays_and_what_it_leads_to_is_replaced(
    word2vec_class: type[Any], tmp_path: Path, sep_limit: int
) -> None:
    (tmp_path / "large disk").mkdir()
    model_of(1.0).save(tmp_path / "large disk" / "stored")
    path = tmp_path / "model"
    path.symlink_to(tmp_path / "large disk" / "stored")
    for value in (2.0, 3.0):
        model_of(value, model_class=word2vec_class).save(str(path), sep_limit=sep_limit)
        assert path.is_symlink()
        assert_whole(path, value, word2vec_class.load)


def test_a_link_to_another_file_system_stays(small_disk: Path, tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.symlink_to(small_disk / "stored")
    for value in (2.0, 3.0):
        model_of(value).save(str(path), sep_limit=0)
        assert path.is_symlink()
        assert_whole(path, value)
    assert sorted(os.listdir(small_disk)) == ["stored"]


def test_permissions_of_a_replaced_model_stay(word2vec_class: type[Any], tmp_path: Path) -> None:
    model = model_of(model_class=word2vec_class)
    for name in ("model", "model.syn1neg.npy"):
        model.save(str(tmp_path / "model"), sep_limit=0)
        (tmp_path / name).chmod(0o640)
    model.save(str(tmp_path / "model"), sep_limit=0)
    for name in ("model", "model.syn1neg.npy"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "model.wv.vectors.npy").stat().st_mode) == 0o666 & ~umask()


def umask() -> int:
    """Return the permissions that new files do not get."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_the_recorded_events_name_the_file_that_the_user_named(word2vec_class: type[Any], scratch: Path) -> None:
    model = model_of(model_class=word2vec_class)
    model.save("model", sep_limit=5)
    for events in (model.lifecycle_events, Word2Vec.load("model").lifecycle_events[:-1]):
        event = events[-1]
        assert (event["event"], event["fname_or_handle"]) == ("saving", "model")
        assert (event["sep_limit"], event["separately"], event["ignore"]) == (5, "None", frozenset())


@pytest.mark.parametrize("by_command", [True, False])
def test_the_recorded_events_of_vectors_name_the_file_that_the_user_named(scratch: Path, by_command: bool) -> None:
    model = model_of()
    if by_command:
        write_model(model, Path("vectors.kv"), "keyed-vectors")
    else:
        model.export_vectors("vectors.kv")
    names = [event.get("fname_or_handle") for event in KeyedVectors.load("vectors.kv").lifecycle_events]
    assert "vectors.kv" in names
    assert ".tfw2v-" not in str(names)


def test_log_lines_of_others_during_a_save_stay_as_they_are(
    scratch: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with caplog.at_level(logging.INFO), written_whole(Path("model")) as unfinished:
        logging.getLogger("gensim.utils").info("half of %s: %d", unfinished, 5)
        logging.getLogger("gensim.utils").info("saved %s", str(unfinished))
        unfinished.write_text("a model")
    half, saved = caplog.records
    assert half.args == (unfinished, 5)
    assert saved.getMessage() == "saved model"


def test_a_missing_folder_is_named(word2vec_class: type[Any], scratch: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing/model"):
        model_of(model_class=word2vec_class).save("missing/model")
    assert os.listdir() == []


def test_a_folder_is_no_place_for_a_model(word2vec_class: type[Any], scratch: Path) -> None:
    Path("folder").mkdir()
    with pytest.raises(IsADirectoryError, match="folder"):
        model_of(model_class=word2vec_class).save("folder")
    assert os.listdir("folder") == []


def test_a_folder_with_the_name_of_an_array_is_left_alone(scratch: Path) -> None:
    model_of(1.0).save("model")
    Path("model.syn1neg.npy").mkdir()
    Path("model.syn1neg.npy", "precious").write_text("")
    with pytest.raises(IsADirectoryError, match="model"):
        model_of(2.0).save("model", sep_limit=0)
    assert os.listdir("model.syn1neg.npy") == ["precious"]
    assert sorted(os.listdir()) == ["model", "model.syn1neg.npy"]
    assert_whole(Path("model"), 1.0)


@pytest.mark.parametrize(("number", "is_raised"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_a_file_system_without_fsync_takes_models_and_one_that_loses_content_does_not(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, number: int, is_raised: bool
) -> None:
    def fail(file: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="stays") if is_raised else contextlib.nullcontext():
        model_of().save("model", sep_limit=0)
    assert os.path.exists("model") != is_raised


def test_an_error_while_a_file_is_written_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def write(content: str, error: bool) -> None:
        with written_file(path) as unfinished:
            unfinished.write_text(content)
            if error:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write("half", error=True)
    assert path.read_text() == "old"
    write("new", error=False)
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["file"]
