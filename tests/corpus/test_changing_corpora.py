"""Corpora that change, or end, between the passes over them, and files as editors leave them."""

from __future__ import annotations

import gzip
import logging
from codecs import BOM_UTF8
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models.callbacks import CallbackAny2Vec
from gensim.models.word2vec import LineSentence
from support.contract import SENTENCES, assert_equal_models

from gensim_tfw2v import TFWord2Vec, encode_corpus
from gensim_tfw2v.model.corpus_reading import MarklessLines

LINES = [" ".join(sentence) for sentence in SENTENCES] * 20  # 3,000 sentences of 12,000 words
SETTINGS: dict[str, Any] = {"vector_size": 8, "min_count": 1, "workers": 1}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file of LINES."""
    path = tmp_path / "corpus.txt"
    write(path, LINES)
    return path


def write(path: Path, lines: list[str]) -> None:
    """Write lines to a file."""
    path.write_text("".join(f"{line}\n" for line in lines))


def counted(file: Path, **settings: Any) -> TFWord2Vec:
    """Return a model whose vocabulary was counted in a file."""
    model = TFWord2Vec(**SETTINGS | settings)
    model.build_vocab(corpus_file=str(file))
    return model


def train(model: TFWord2Vec, file: Path, **arguments: Any) -> tuple[int, int]:
    """Train a model on a file of as many words as were counted."""
    return model.train(
        corpus_file=str(file),
        total_examples=model.corpus_count,
        total_words=model.corpus_total_words,
        **{"epochs": 2} | arguments,
    )


def warnings_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the logged warnings."""
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize("lines", [LINES[:-4], LINES + LINES[:4]], ids=["shorter", "longer"])
def test_a_file_of_notably_other_size_is_a_warning_with_both_numbers(
    file: Path, lines: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    model = counted(file)
    write(file, lines)
    train(model, file, epochs=1)
    sentences, words = warnings_in(caplog)
    assert f"has {len(lines)} sentences, and 3000 were counted" in sentences
    assert f"has {sum(len(line.split()) for line in lines)} raw words, and 12000 were counted" in words


def test_a_file_of_nearly_the_same_size_is_no_warning(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    model = counted(file)
    write(file, LINES[:-2])
    assert train(model, file)[1] < 2 * 12_000
    assert warnings_in(caplog) == []


def test_an_unchanged_file_is_no_warning(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    train(counted(file), file)
    assert warnings_in(caplog) == []


def test_a_file_that_has_become_empty_is_a_warning(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    model = counted(file)
    write(file, [])
    assert train(model, file, epochs=1) == (0, 0)
    assert "has 0 raw words, and 12000 were counted" in caplog.text


def test_an_iterable_of_other_size_is_gensims_own_warning_alone(caplog: pytest.LogCaptureFixture) -> None:
    model = TFWord2Vec(**SETTINGS)
    model.build_vocab(SENTENCES)
    model.train(SENTENCES[:-1], total_examples=150, total_words=600, epochs=1)
    examples, words = warnings_in(caplog)
    assert "supplied example count (149) did not equal expected count (150)" in examples
    assert "supplied raw word count (597) did not equal expected count (600)" in words


class Deleting(CallbackAny2Vec):  # type: ignore[misc]
    """Deletes the corpus when the second epoch begins."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._epochs = 0

    def on_epoch_begin(self, model: Any) -> None:
        """Delete the file in the second epoch."""
        self._epochs += 1
        if self._epochs == 2:
            self._file.unlink()


@pytest.mark.parametrize("is_scanned", [True, False], ids=["kept by the scan", "kept by the first epoch"])
def test_a_file_deleted_between_epochs_is_no_error_if_it_is_kept(file: Path, is_scanned: bool) -> None:
    models = counted(file), counted(file)
    for model, callbacks in zip(models, ([], [Deleting(file)]), strict=True):
        if not is_scanned:
            model._reader.forget()
        assert train(model, file, epochs=3, callbacks=callbacks)[1] == 3 * 12_000
    assert not file.exists()
    assert_equal_models(*models)


def test_a_file_deleted_before_training_is_no_error_if_it_is_kept(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    models = counted(file), counted(file)
    train(models[0], file)
    file.unlink()
    assert train(models[1], file)[1] == 2 * 12_000
    assert_equal_models(*models)
    (warning,) = warnings_in(caplog)
    assert "corpus.txt has been deleted" in warning


def test_a_deleted_file_that_is_not_kept_is_named(file: Path) -> None:
    model = counted(file, cache_memory=0)
    file.unlink()
    with pytest.raises(TypeError, match=r"corpus\.txt"):
        train(model, file)


def test_a_deleted_file_cannot_be_counted_again(file: Path) -> None:
    model = counted(file)
    file.unlink()
    with pytest.raises(TypeError, match=r"corpus\.txt"):
        model.build_vocab(corpus_file=str(file))


@pytest.mark.parametrize(("text", "says"), [("", "is empty"), (" \n\n", "white space"), ("\ufeff\r\n\u3000", "white")])
def test_a_file_without_words_is_named_also_by_train(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "nothing.txt"
    path.write_bytes(text.encode())
    model = TFWord2Vec(**SETTINGS)
    model.build_vocab(corpus_file=str(path))
    with pytest.raises(RuntimeError, match=rf"nothing\.txt' .*{says}"):
        model.train(corpus_file=str(path), total_words=1, epochs=1)


def test_a_day_without_words_does_not_end_growing_the_vocabulary(file: Path, tmp_path: Path) -> None:
    model = counted(file)
    (tmp_path / "empty.txt").write_text("")
    model.build_vocab(corpus_file=str(tmp_path / "empty.txt"), update=True)
    assert len(model.wv) == 11


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    """Return a file as some editors for Windows write it."""
    path = tmp_path / "marked.txt"
    path.write_bytes(BOM_UTF8 + "".join(f"{line}\r\n" for line in LINES).encode())
    return path


@pytest.mark.parametrize("settings", [{}, {"max_vocab_size": 1000}, {"cache_memory": 0}], ids=str)
def test_a_mark_and_ends_of_lines_of_windows_are_no_words(file: Path, marked: Path, settings: dict[str, Any]) -> None:
    plain, windows = counted(file, **settings), counted(marked, **settings)
    assert windows.wv.index_to_key == plain.wv.index_to_key
    assert train(windows, marked) == train(plain, file)
    np.testing.assert_array_equal(windows.wv.vectors, plain.wv.vectors)


@pytest.mark.parametrize(("suffix", "compress"), [("", bytes), (".gz", gzip.compress)])
def test_an_encoded_corpus_has_no_mark(tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / f"marked.txt{suffix}"
    path.write_bytes(compress(BOM_UTF8 + b"a b\r\nb\r\n"))
    assert encode_corpus(path, tmp_path / "encoded").counts() == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    "text", ["\ufeffa b\r\nb\r\n", "a \ufeffb", "\ufeff", "\ufeff\n", "\ufeff a\n", "", "\n\ufeffa"]
)
@pytest.mark.parametrize(("suffix", "compress"), [("", bytes), (".gz", gzip.compress)])
def test_lines_without_a_mark_are_gensims(
    tmp_path: Path, text: str, suffix: str, compress: Callable[[bytes], bytes]
) -> None:
    marked, markless = tmp_path / f"marked.txt{suffix}", tmp_path / "markless.txt"
    marked.write_bytes(compress(text.encode()))
    markless.write_bytes(text.removeprefix("\ufeff").encode())
    lines = MarklessLines(str(marked))
    assert [list(lines), list(lines)] == [list(LineSentence(str(markless)))] * 2


def test_nul_is_a_character_of_words(tmp_path: Path) -> None:
    path = tmp_path / "nul.txt"
    path.write_bytes(b"a\0b \0 a\0b\n" * 5)
    assert counted(path).wv.key_to_index == {"a\0b": 0, "\0": 1}
