"""Tables of Parquet and Arrow as CORPUS on the command line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.command_line import SENTENCES, error_of, run, train, write_corpus

pa = pytest.importorskip("pyarrow", reason="needs pyarrow, which the extra `test` installs")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Write a table with two columns of text."""
    path = tmp_path / "corpus.parquet"
    pq.write_table(pa.table({"title": ["a title"] * len(SENTENCES), "text": SENTENCES}), path)
    return path


def test_a_table_trains_and_is_encoded_as_the_text(table: Path, tmp_path: Path) -> None:
    assert train(write_corpus(tmp_path), tmp_path / "of-text.txt") == 0
    assert train(table, tmp_path / "of-table.txt", "--column", "text") == 0
    assert run("encode", table, tmp_path / "encoded", "--column", "text", "--quiet") == 0
    assert train(tmp_path / "encoded", tmp_path / "of-ids.txt") == 0
    expected = (tmp_path / "of-text.txt").read_bytes()
    assert (tmp_path / "of-table.txt").read_bytes() == expected
    assert (tmp_path / "of-ids.txt").read_bytes() == expected


def test_a_folder_may_hold_tables_and_text(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    table.rename(folder / table.name)
    write_corpus(folder)
    assert train(folder, tmp_path / "vectors.txt", "--column", "text") == 0
    assert "trained on  840 words" in capsys.readouterr().out


def test_a_wrong_column_is_an_error_before_training(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "vectors.txt"
    assert train(table, output) == 2
    assert "name one with --column among 'title' (string), 'text' (string)" in error_of(capsys)
    assert train(table, output, "--column", "words") == 2
    assert "has no column 'words'" in error_of(capsys)
    assert train(write_corpus(tmp_path), output, "--column", "text") == 2
    assert "--column 'text' names a column of a table" in error_of(capsys)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert train(table, output, "--column", "text") == 2
    assert "needs the package pyarrow" in error_of(capsys)
