"""Corpora encoded in sections: every file is the one that a single process writes, whoever encodes and whoever dies."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from fuzzing.encoding_lines import ANSWERS, REQUESTS
from hypothesis import given, settings
from hypothesis import strategies as st

from gensim_tfw2v import encode_corpus, tuning
from gensim_tfw2v.corpus import child_program
from gensim_tfw2v.corpus.encode import encode_with
from gensim_tfw2v.corpus.sections import coordination
from gensim_tfw2v.corpus.sections.encoders import Encoder, LostEncoderError, ProcessEncoder
from gensim_tfw2v.corpus.sections.program import answer_to_line
from gensim_tfw2v.corpus.sections.requests import (
    Answer,
    Request,
    WriteRequest,
    answer_line,
    answer_of,
    error_line,
    request_line,
    request_of,
)

TEXTS = st.lists(
    st.sampled_from(["a", "bb", "é", "中文", "c", "d" * 40, " ", " ", "\n", "\n", "\n\n", "\r\n", "\t"]),
    max_size=40,
).map("".join)


class Here(Encoder):
    """An encoder in this process, which gets the same lines as a process does."""

    def answers(self, requests: Sequence[Request]) -> list[Answer]:
        return [answer_of(answer_to_line(request_line(request))) for request in requests]

    def close(self) -> None:
        pass


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the content of each file of a folder."""
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.fixture
def by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that returns the files which one process writes for a corpus that is read in small parts."""

    def encoded(corpus: Path, part_bytes: int, shard_words: int) -> dict[str, bytes]:
        monkeypatch.setattr(tuning, "FILE_PART_BYTES", part_bytes)
        encode_corpus(corpus, tmp_path / "by one", workers=1, shard_words=shard_words)
        return files_of(tmp_path / "by one")

    return encoded


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """Return a text with lines of all lengths, empty ones included, and without a line end at its end."""
    random = np.random.default_rng(5)
    path = tmp_path / "text.txt"
    lengths = [*random.integers(0, 50, 500).tolist(), 10_000, 25_000, 0, 3]
    lines = [" ".join(f"w{word}" for word in random.zipf(1.3, length) % 3000) for length in lengths]
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize(
    ("section_bytes", "shard_words", "buckets"),
    [(5_000, 2_000, 1), (5_000, 10**9, 3), (20_000, 10**9, 1), (20_000, 2_000, 7), (10**9, 10**9, 2)],
)
def test_sections_of_any_size_give_the_files_of_one_process(
    text: Path,
    tmp_path: Path,
    by_one: Any,
    section_bytes: int,
    shard_words: int,
    buckets: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(coordination, "_buckets_for", lambda words, encoders: buckets)
    expected = by_one(text, 5_000, shard_words)
    encode_with(
        [Here()], text, tmp_path / "new", shard_words=shard_words, part_bytes=5_000, section_bytes=section_bytes
    )
    assert files_of(tmp_path / "new") == expected


def test_a_bucket_holds_a_limited_number_of_words_and_all_encoders_have_one() -> None:
    assert coordination._buckets_for(100, 8) == 1
    assert coordination._buckets_for(tuning.LEAST_BUCKET_WORDS * 20, 8) == 8
    assert coordination._buckets_for(10**9, 8) * tuning.MOST_BUCKET_WORDS >= 10**9


@settings(max_examples=10)
@given(texts=st.lists(TEXTS, min_size=1, max_size=3), part_bytes=st.integers(4, 60), shard_words=st.integers(1, 100))
def test_any_files_give_the_files_of_one_process(
    texts: list[str], part_bytes: int, shard_words: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "text").mkdir()
    for number, text in enumerate([*texts, "the end"]):
        (folder / "text" / f"{number}.txt").write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "FILE_PART_BYTES", part_bytes)
        encode_corpus(folder / "text", folder / "by one", workers=1, shard_words=shard_words)
    sizes = {"shard_words": shard_words, "part_bytes": part_bytes, "section_bytes": 2 * part_bytes}
    encode_with([Here(), Here()], folder / "text", folder / "new", **sizes)
    assert files_of(folder / "new") == files_of(folder / "by one")


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfa b\r\n\r\nc a\r\n",
        b"\n\n\n a\n",
        b"one line without an end",
        b"x" * 500 + b" " + b"y" * 500,
        b"a b\n" + b" " * 300 + b"\nc",
    ],
    ids=["mark and CRLF", "empty lines", "no line end", "long words", "white space"],
)
def test_odd_borders_give_the_files_of_one_process(content: bytes, tmp_path: Path, by_one: Any) -> None:
    (tmp_path / "text.txt").write_bytes(content)
    expected = by_one(tmp_path / "text.txt", 8, 3)
    sizes = {"shard_words": 3, "part_bytes": 8, "section_bytes": 8}
    encode_with([Here()], tmp_path / "text.txt", tmp_path / "new", **sizes)
    assert files_of(tmp_path / "new") == expected


def test_a_compressed_file_and_a_table_are_a_section_each(text: Path, tmp_path: Path, by_one: Any) -> None:
    import pyarrow
    import pyarrow.parquet

    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.txt.gz").write_bytes(gzip.compress(text.read_bytes()))
    pyarrow.parquet.write_table(pyarrow.table({"nodes": [[7, 8, 7], [9]]}), folder / "b.parquet")
    (folder / "c.txt").write_bytes(text.read_bytes())
    expected = by_one(folder, 5_000, 10**9)
    encode_with([Here()], folder, tmp_path / "new", part_bytes=5_000, section_bytes=5_000)
    assert files_of(tmp_path / "new") == expected


def test_numbers_and_the_same_numbers_as_text_are_refused_as_by_one_process(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a.txt").write_text("7 a\n")
    pyarrow.parquet.write_table(pyarrow.table({"nodes": [[8, 7]]}), tmp_path / "corpus" / "b.parquet")
    for encode in (encode_corpus, lambda *arguments: encode_with([Here()], *arguments)):
        with pytest.raises(ValueError, match="whole numbers and others the same numbers as text"):
            encode(tmp_path / "corpus", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_processes_give_the_files_of_one(text: Path, tmp_path: Path, by_one: Any) -> None:
    expected = by_one(text, 20_000, 10**9)
    before = children()
    said: list[tuple[int, int, int]] = []
    found = encode_corpus(text, tmp_path / "new", processes=2, progress=lambda *numbers: said.append(numbers))
    assert files_of(tmp_path / "new") == expected
    assert said[-1][0] == found.words
    assert children() == before


class Counting(ProcessEncoder):
    """A process that keeps what it was asked."""

    asked: list[Request]

    def answers(self, requests: Sequence[Request]) -> list[Answer]:
        self.asked += requests
        return super().answers(requests)


def test_a_killed_process_costs_only_its_section(
    text: Path, tmp_path: Path, by_one: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    expected = by_one(text, 5_000, 10**9)
    before, asked, killed = children(), [], []
    monkeypatch.setattr(Counting, "asked", asked, raising=False)

    def kill_one(*_: int) -> None:
        if not killed:
            killed.append(min(children() - before))
            os.kill(killed[0], signal.SIGKILL)

    sizes = {"part_bytes": 5_000, "section_bytes": 5_000}
    encode_with([Counting(), Counting()], text, tmp_path / "new", progress=kill_one, **sizes)
    assert files_of(tmp_path / "new") == expected
    assert killed
    sections = sum(isinstance(request, WriteRequest) for request in asked)
    assert sections > 10
    assert len(asked) - 2 * sections <= 3, "at most the killed process's section, and the requests for two buckets"
    assert all("ended by signal 9" in record.message for record in caplog.records)
    assert children() == before


def test_a_process_that_cannot_start_is_reported_with_what_it_said(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_program, "_PROGRAM", "raise SystemExit('no such thing')")
    before = children()
    with pytest.raises(LostEncoderError, match="exited with code 1; its error output: no such thing"):
        encode_corpus(text, tmp_path / "new", processes=2)
    assert children() == before
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]


class Absent(Here):
    """An encoder that is lost for good at its first request."""

    is_there = True

    def answers(self, requests: Sequence[Request]) -> list[Answer]:
        self.is_there = False
        raise LostEncoderError("gone")


def test_others_do_what_an_encoder_leaves_that_is_lost_for_good(text: Path, tmp_path: Path, by_one: Any) -> None:
    expected = by_one(text, 5_000, 10**9)
    sizes = {"part_bytes": 5_000, "section_bytes": 5_000}
    encode_with([Absent(), Here(), Absent()], text, tmp_path / "new", **sizes)
    assert files_of(tmp_path / "new") == expected
    with pytest.raises(LostEncoderError, match="gone"):
        encode_with([Absent(), Absent()], text, tmp_path / "none", **sizes)
    assert not (tmp_path / "none").exists()


def test_a_request_that_ends_every_encoder_ends_encoding(text: Path, tmp_path: Path) -> None:
    class Mortal(Here):
        def answers(self, requests: Sequence[Request]) -> list[Answer]:
            raise LostEncoderError("ended again")

    with pytest.raises(LostEncoderError, match="ended again"):
        encode_with([Mortal()], text, tmp_path / "new")


def test_an_encoding_process_imports_neither_gensim_nor_tensorflow() -> None:
    program = "import sys, gensim_tfw2v.corpus.sections.program; print({'gensim', 'tensorflow'} & set(sys.modules))"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(child_program.import_path())}
    found = subprocess.check_output([sys.executable, "-c", program], env=env, text=True)
    assert found.strip() == "set()"


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"\xff\n", b"[]\n", b"{}\n", b'{"request": "Remove"}\n', b'{"request": "CountRequest", "folder": 3}\n'),
        b'{"request": "MergeRequest", "folder": 7, "bucket": 1, "buckets": [], "have_numbers": 7}\n',
    ],
)
def test_a_damaged_request_is_answered_by_an_error(line: bytes) -> None:
    with pytest.raises(ValueError, match="no request"):
        answer_of(answer_to_line(line))


def children() -> set[int]:
    """Return the processes that this one has started."""
    return {child.pid for child in psutil.Process().children(recursive=True)}


def test_lines_of_requests_and_answers_are_read_as_they_were_written() -> None:
    for request in REQUESTS:
        assert request_of(request_line(request)) == request
    for found in ANSWERS:
        assert answer_of(answer_line(found)) == found


@pytest.mark.parametrize(
    "error", [ValueError("not UTF-8"), ImportError("no pyarrow"), PermissionError(13, "denied", "/corpus.txt")]
)
def test_an_error_in_an_encoding_process_is_raised_here(error: Exception) -> None:
    with pytest.raises(type(error)) as raised:
        answer_of(error_line(error))
    assert str(raised.value) == str(error)
