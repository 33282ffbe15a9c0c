"""TensorFlow's import begins before training where Python's lock is free for seconds, and only if training follows."""

from __future__ import annotations

from pathlib import Path

import pytest

from gensim_tfw2v import TFWord2Vec, tuning
from gensim_tfw2v.model import corpus_reading, vocabulary

SENTENCES = [["a", "b", "c"]] * 9


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of what happens: imports that begin, and parts of a file that are read."""
    happened: list[str] = []
    for module in (corpus_reading, vocabulary):
        monkeypatch.setattr(module, "import_ahead", lambda: happened.append("import"))
    monkeypatch.setattr(corpus_reading.ScanLog, "__call__", lambda *_: happened.append("part"))
    return happened


@pytest.fixture
def large_file(tmp_path: Path) -> str:
    """Return the path of a file that is read by processes if there are several workers."""
    path = tmp_path / "corpus.txt"
    line = b"a b c\n"
    parts = tuning.SMALL_FILE_PARTS + 2
    path.write_bytes(line * (parts * tuning.FILE_PART_BYTES // len(line)))
    return str(path)


def test_the_import_begins_while_processes_read_a_file(
    events: list[str], large_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_reading, "usable_cores", lambda: 2)
    TFWord2Vec(min_count=1, workers=2).build_vocab(corpus_file=large_file)
    assert events[:2] == ["import", "part"] and events.count("import") == 1


def test_the_import_does_not_begin_while_this_process_reads_a_file(events: list[str], large_file: str) -> None:
    TFWord2Vec(min_count=1, workers=1).build_vocab(corpus_file=large_file)
    assert "part" in events and "import" not in events


@pytest.mark.parametrize(("numbers", "begins"), [(12, True), (13, False)])
def test_the_import_begins_while_a_large_matrix_is_made_if_training_follows(
    events: list[str], numbers: int, begins: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "LEAST_NUMBERS_FOR_IMPORT_AHEAD", numbers)
    TFWord2Vec(SENTENCES, min_count=1, vector_size=4, epochs=1)
    assert events == ["import"] * begins


def test_the_import_does_not_begin_where_a_vocabulary_is_built_alone(
    events: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "LEAST_NUMBERS_FOR_IMPORT_AHEAD", 1)
    TFWord2Vec(min_count=1, vector_size=4).build_vocab(SENTENCES)
    assert events == []
