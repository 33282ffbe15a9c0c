"""`tfw2v encode`: what it writes serves `tfw2v train`, and what it refuses."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from support.command_line import error_of, run, train, write_corpus


def test_training_on_the_encoded_corpus_gives_the_vectors_of_the_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = write_corpus(tmp_path)
    assert run("encode", corpus, tmp_path / "encoded") == 0
    assert "encoded: 420 words in 60 sentences" in capsys.readouterr().out
    for name, source in (("of-ids.txt", tmp_path / "encoded"), ("of-text.txt", corpus)):
        assert train(source, tmp_path / name) == 0
    assert (tmp_path / "of-ids.txt").read_bytes() == (tmp_path / "of-text.txt").read_bytes()


def test_shards_are_as_large_as_asked_for(tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    for number in range(3):
        (tmp_path / "text" / f"{number}.txt").write_text("some words\n")
    assert run("encode", tmp_path / "text", tmp_path / "encoded", "--shard-words", 3, "--quiet") == 0
    assert sum(name.endswith(".ids") for name in os.listdir(tmp_path / "encoded")) == 2


def test_processes_write_the_same_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = write_corpus(tmp_path)
    assert run("encode", corpus, tmp_path / "by-one", "--quiet") == 0
    assert run("encode", corpus, tmp_path / "by-two", "--processes", 2) == 0
    assert "by-two: 420 words in 60 sentences" in capsys.readouterr().out
    for file in (tmp_path / "by-one").iterdir():
        assert (tmp_path / "by-two" / file.name).read_bytes() == file.read_bytes()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--processes", "0"], "'0' is not a whole number of 1 or more"),
        (["--processes", "2", "--workers", "2"], "--workers: not allowed with argument --processes"),
        (["--processes", "2", "--cluster", "c.json"], "--cluster: not allowed with argument --processes"),
        (["--cluster", "missing.json"], "missing.json"),
    ],
)
def test_encoders_that_cannot_be_are_refused(
    flags: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("encode", write_corpus(tmp_path), tmp_path / "new", *flags) == 2
    assert message in error_of(capsys)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("suffix", [".gz", ".GZ"])
def test_a_compressed_corpus_is_known_by_its_suffix_in_any_case(tmp_path: Path, suffix: str) -> None:
    corpus = tmp_path / f"corpus.txt{suffix}"
    corpus.write_bytes(gzip.compress(write_corpus(tmp_path).read_bytes()))
    assert run("encode", corpus, tmp_path / "encoded") == 0
    for name, source in (("of-ids.txt", tmp_path / "encoded"), ("of-text.txt", corpus)):
        assert train(source, tmp_path / name) == 0
    assert (tmp_path / "of-ids.txt").read_bytes() == (tmp_path / "of-text.txt").read_bytes()


def test_a_folder_that_is_there_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = write_corpus(tmp_path)
    assert run("encode", corpus, tmp_path / "encoded", "--quiet") == 0
    assert run("encode", corpus, tmp_path / "encoded") == 2
    assert "there already" in error_of(capsys)
    assert run("encode", tmp_path / "encoded", tmp_path / "again") == 2
    assert "encoded already" in error_of(capsys)
    assert run("encode", corpus, tmp_path / "no" / "encoded") == 2
    assert "make it first" in error_of(capsys)


def test_a_missing_corpus_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("encode", tmp_path / "missing", tmp_path / "encoded") == 2
    assert "missing" in error_of(capsys)
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("name", ["corpus.json", "vocabulary.txt", "shard-00000.ids"])
@pytest.mark.parametrize("content", [None, b"", b"\xff\n\n"], ids=["missing", "empty", "other"])
def test_a_damaged_file_of_an_encoded_corpus_is_named_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes | None
) -> None:
    encoded = tmp_path / "encoded"
    assert run("encode", write_corpus(tmp_path), encoded, "--quiet") == 0
    (encoded / name).unlink()
    if content is not None:
        (encoded / name).write_bytes(content)
    assert train(encoded, tmp_path / "vectors.txt", "--quiet") == 1
    message = error_of(capsys)
    assert str(encoded / name) in message
    assert "encode the corpus anew" in message
    assert not (tmp_path / "vectors.txt").exists()
