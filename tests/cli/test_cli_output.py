"""`tfw2v train` overwrites nothing unasked and leaves a whole model or none."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from gensim.models import KeyedVectors
from gensim.utils import SaveLoad
from support.command_line import error_of, run, train, write_corpus

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.cli import main as cli


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path)


def test_an_existing_output_is_refused_and_left_alone(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model").write_text("precious")
    assert train(corpus, tmp_path / "model") == 2
    assert "model' is there already; --force" in error_of(capsys)
    assert (tmp_path / "model").read_text() == "precious"


@pytest.mark.parametrize("flag", ["--documents", "--tables-dir"])
def test_keyed_vectors_that_cannot_be_compressed_are_refused_before_training(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], flag: str
) -> None:
    value = [str(tmp_path)] if flag == "--tables-dir" else []
    assert train(corpus, tmp_path / "vectors.kv.gz", flag, *value) == 2
    assert "vectors.kv.gz' asks for" in error_of(capsys)  # and no log of a training


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.kv", "model"])
def test_the_log_names_the_file_that_the_user_named(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert train(corpus, tmp_path / name) == 0
    log = capsys.readouterr().err
    assert str(tmp_path / name) in log
    assert ".tfw2v-" not in log


@pytest.mark.parametrize("suffix", [".wv.vectors.npy", ".syn1neg.npy", ".vectors.npy"])
def test_an_existing_array_of_the_same_model_name_is_refused(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str
) -> None:
    (tmp_path / f"model{suffix}").write_text("precious")
    assert train(corpus, tmp_path / "model") == 2
    assert f"model{suffix}' is there already" in error_of(capsys)


def test_force_overwrites_and_leaves_files_of_other_models_alone(corpus: Path, tmp_path: Path) -> None:
    for name in ("model", "model.syn1.npy", "model.2.syn1.npy", "model.labels.npy", "model2"):
        (tmp_path / name).write_text("old")
    assert train(corpus, tmp_path / "model", "--force") == 0
    assert len(TFWord2Vec.load(str(tmp_path / "model")).wv) == 10
    left = sorted(path.name for path in tmp_path.iterdir() if path.is_file() and path.read_bytes() == b"old")
    assert left == ["model.2.syn1.npy", "model.labels.npy", "model2"]


def test_arrays_in_files_of_their_own_are_found_again(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = SaveLoad._smart_save
    monkeypatch.setattr(
        SaveLoad,
        "_smart_save",
        lambda self, name, separately, limit, ignore, pickle_protocol: save(self, name, sep_limit=20),
    )
    assert train(corpus, tmp_path / "model", "--force") == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert {"model", "model.wv.vectors.npy", "model.syn1neg.npy"} <= names
    assert not any(name.startswith(".") for name in names)
    model = TFWord2Vec.load(str(tmp_path / "model"))
    assert model.wv.vectors.shape == model.syn1neg.shape == (10, 8)
    assert run("neighbours", tmp_path / "model", "cat") == 0


@pytest.mark.parametrize("name", ["model", "model.txt", "model.kv"])
def test_a_failure_while_writing_leaves_nothing_behind(
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
) -> None:
    def fill_disk(self: Any, path: str, *arguments: Any, **settings: Any) -> None:
        Path(path).write_text("half a model")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for owner, method in ((SaveLoad, "_smart_save"), (KeyedVectors, "save_word2vec_format")):
        monkeypatch.setattr(owner, method, fill_disk)
    assert train(corpus, tmp_path / name, "--quiet") == 1
    assert "No space left on device" in error_of(capsys)
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.txt"]


def test_a_failure_while_writing_keeps_the_old_model_under_force(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any, **settings: Any) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    (tmp_path / "model.txt").write_text("precious")
    monkeypatch.setattr(KeyedVectors, "save_word2vec_format", fail)
    assert train(corpus, tmp_path / "model.txt", "--force") == 1
    assert (tmp_path / "model.txt").read_text() == "precious"


@pytest.mark.parametrize(
    ("output", "reason"),
    [("missing/model", "missing' is not there"), ("corpus.txt/model", "is not there"), (".", "is a folder")],
)
def test_an_output_that_cannot_be_written_is_refused(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], output: str, reason: str
) -> None:
    assert train(corpus, tmp_path / output) == 2
    assert reason in error_of(capsys)


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder in which nobody can write")
def test_a_folder_without_write_permission_is_refused_before_training(
    corpus: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli.train, "_train", lambda arguments: pytest.fail("trained"))
    assert train(corpus, Path("/proc/self/model")) == 2
    assert "cannot write in output folder '/proc/self'" in error_of(capsys)


def test_the_corpus_is_never_overwritten(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = corpus.read_bytes()
    assert train(corpus, corpus, "--force") == 2
    assert "is the corpus itself" in error_of(capsys)
    assert corpus.read_bytes() == before


def test_an_output_inside_the_corpus_folder_is_refused(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(tmp_path, tmp_path / "model") == 2
    assert "lies in the corpus folder" in error_of(capsys)
