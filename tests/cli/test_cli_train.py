"""`tfw2v train`: what it reads, what it writes, what it reports."""

from __future__ import annotations

import bz2
import gzip
import io
import logging
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors
from support.command_line import SENTENCES, error_of, run, train, write_corpus
from support.interrupts import heed_interrupts

from gensim_tfw2v import TFWord2Vec

PROGRAM = [sys.executable, "-m", "gensim_tfw2v", "train"]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path)


@pytest.mark.parametrize("name", ["model", "model.gz"])
def test_train_writes_a_gensim_model_that_can_be_trained_on(corpus: Path, tmp_path: Path, name: str) -> None:
    assert train(corpus, tmp_path / name) == 0
    model = TFWord2Vec.load(str(tmp_path / name))
    assert (model.corpus_total_words, model.vector_size, model.epochs) == (20 * 21, 8, 1)


@pytest.mark.parametrize(
    ("name", "flags"), [("m.txt", []), ("m.vec", []), ("m.txt.gz", []), ("m.out", ["--format", "text"])]
)
def test_train_writes_word2vec_text(corpus: Path, tmp_path: Path, name: str, flags: list[str]) -> None:
    assert train(corpus, tmp_path / name, *flags) == 0
    vectors = KeyedVectors.load_word2vec_format(str(tmp_path / name))
    assert set(vectors.index_to_key) == {word for line in SENTENCES for word in line.split()}


@pytest.mark.parametrize(("name", "flags"), [("m.bin", []), ("m.txt", ["--format", "binary"])])
def test_train_writes_word2vec_binary(corpus: Path, tmp_path: Path, name: str, flags: list[str]) -> None:
    assert train(corpus, tmp_path / name, *flags) == 0
    assert KeyedVectors.load_word2vec_format(str(tmp_path / name), binary=True).vectors.shape == (10, 8)


def test_train_writes_keyed_vectors(corpus: Path, tmp_path: Path) -> None:
    assert train(corpus, tmp_path / "m.kv") == 0
    assert type(KeyedVectors.load(str(tmp_path / "m.kv"))) is KeyedVectors


@pytest.mark.parametrize(
    ("name", "writer"),
    [
        ("m.safetensors", "tfw2v export"),
        ("m.ONNX", None),
        ("m.npz", None),
        ("m.parquet.gz", None),
        ("m.txt.xz", None),
        ("m.faiss", "tfw2v index"),
    ],
)
def test_a_suffix_of_a_format_that_is_not_written_is_an_error_before_training(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, writer: str | None
) -> None:
    assert train(corpus, tmp_path / name) == 2
    message = error_of(capsys)
    assert name in message and Path(name.lower().removesuffix(".gz")).suffix in message and ".kv" in message
    assert writer is None or writer in message
    assert not (tmp_path / name).exists()
    assert train(corpus, tmp_path / name, "--format", "text") == 0


def test_a_file_a_compressed_file_and_a_folder_give_the_same_vocabulary(corpus: Path, tmp_path: Path) -> None:
    text = corpus.read_bytes()
    (tmp_path / "corpus.gz").write_bytes(gzip.compress(text))
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "1.txt").write_bytes(text[: text.index(b"\n") + 1])
    (folder / "2.bz2").write_bytes(bz2.compress(text[text.index(b"\n") + 1 :]))
    counts = []
    for number, source in enumerate([corpus, tmp_path / "corpus.gz", folder]):
        assert train(source, tmp_path / f"model{number}") == 0
        vectors = TFWord2Vec.load(str(tmp_path / f"model{number}")).wv
        counts.append({word: vectors.get_vecattr(word, "count") for word in vectors.index_to_key})
    assert counts[0] == counts[1] == counts[2]
    assert counts[0]["the"] == 80


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b" \n\n", "holds no words"),
        (b"caf\xe9 cr\xe8me\n" * 9, "not UTF-8 text"),
    ],
    ids=["empty", "blank", "latin-1"],
)
def test_a_corpus_without_usable_text_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, reason: str
) -> None:
    (tmp_path / "bad.txt").write_bytes(content)
    assert train(tmp_path / "bad.txt", tmp_path / "model", "--quiet") != 0
    error = error_of(capsys)
    assert "bad.txt" in error
    assert reason in error
    assert not (tmp_path / "model").exists()


def test_a_truncated_gzip_corpus_is_one_line(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cut.gz").write_bytes(gzip.compress(corpus.read_bytes())[:-20])
    assert train(tmp_path / "cut.gz", tmp_path / "model", "--quiet") == 1
    assert "cut.gz: the file is damaged: " in error_of(capsys)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [("2.txt", b"caf\xe9", "not UTF-8 text"), ("2.gz", gzip.compress(b"the cat" * 99)[:-20], "damaged")],
    ids=["latin-1", "truncated"],
)
def test_a_file_of_a_folder_that_cannot_be_read_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, reason: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    write_corpus(folder).rename(folder / "1.txt")
    (folder / name).write_bytes(content)
    assert train(folder, tmp_path / "model", "--quiet") == 1
    error = error_of(capsys)
    assert str(folder / name) in error
    assert reason in error


def test_a_min_count_that_no_word_reaches_is_named(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(corpus, tmp_path / "model", "--quiet", "--min-count", "1000") == 2
    assert "--min-count 1000" in error_of(capsys)


def test_the_summary_names_words_and_model(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(corpus, tmp_path / "model", "--epochs", "3") == 0
    summary = capsys.readouterr().out
    assert "10 words" in summary
    assert "1,260 words" in summary
    assert str(tmp_path / "model") in summary


def test_quiet_prints_nothing_not_even_from_native_code(corpus: Path, tmp_path: Path) -> None:
    done = subprocess.run([*PROGRAM, str(corpus), "--output", str(tmp_path / "m"), "--quiet"], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_without_a_terminal_progress_is_logged(corpus: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert train(corpus, tmp_path / "model") == 0
    assert " : INFO : " in capfd.readouterr().err


def test_an_interrupt_is_one_line_and_exit_code_130(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*arguments: Any, **settings: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(TFWord2Vec, "train", interrupt)
    assert train(corpus, tmp_path / "model", "--quiet") == 130
    assert capsys.readouterr().err == "tfw2v: interrupted\n"
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.txt"]


def test_a_running_command_ends_on_an_interrupt_from_the_terminal(corpus: Path, tmp_path: Path) -> None:
    command = [*PROGRAM, str(corpus), "--output", str(tmp_path / "model"), "--epochs", "1000000"]
    process = subprocess.Popen(
        [*command, "--min-count", "1"], stderr=subprocess.PIPE, text=True, preexec_fn=heed_interrupts
    )
    assert process.stderr is not None
    next(line for line in process.stderr if "EPOCH" in line)
    process.send_signal(signal.SIGINT)
    rest = process.communicate(timeout=120)[1]
    assert process.returncode == 130
    assert rest.splitlines()[-1] == "tfw2v: interrupted"
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.txt"]


def test_vectors_written_as_text_equal_those_of_the_model(corpus: Path, tmp_path: Path) -> None:
    assert train(corpus, tmp_path / "model") == 0
    assert train(corpus, tmp_path / "model.txt") == 0
    model = TFWord2Vec.load(str(tmp_path / "model")).wv
    text = KeyedVectors.load_word2vec_format(str(tmp_path / "model.txt"))
    assert np.allclose(model["cat"], text["cat"], atol=1e-5)


def test_log_lines_are_written_once_though_the_root_logger_has_a_handler(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """absl, which TensorFlow imports, may add one."""
    root, others = logging.getLogger(), io.StringIO()
    handler = logging.StreamHandler(others)
    root.addHandler(handler)
    try:
        assert run("train", str(corpus), "--output", str(tmp_path / "m.kv"), "--min-count", "1") == 0
    finally:
        root.removeHandler(handler)
    assert capsys.readouterr().err.count(" : INFO : saved ") == 1
    assert others.getvalue() == ""
