"""`tfw2v train --subwords` trains TFFastText, and `tfw2v neighbours` answers for words that it has not seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors
from support.command_line import error_of, run, train, write_corpus

from gensim_tfw2v import TFFastText

SUBWORDS: list[Any] = ["--subwords", "--bucket", 500, "--quiet"]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path)


@pytest.mark.parametrize("name", ["model", "vectors.kv"])
def test_words_that_are_not_in_the_corpus_have_neighbours(
    corpus: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(corpus, tmp_path / name, *SUBWORDS, "--max-n", 4) == 0
    assert capsys.readouterr().out == ""
    assert run("neighbours", tmp_path / name, "mats", "--topn", 2) == 0
    assert capsys.readouterr().out.startswith("mats\n")
    if name == "model":
        model = TFFastText.load(tmp_path / name)
        assert (model.wv.bucket, model.wv.min_n, model.wv.max_n) == (500, 3, 4)


def test_text_has_the_vectors_of_words(corpus: Path, tmp_path: Path) -> None:
    assert train(corpus, tmp_path / "model", *SUBWORDS) == train(corpus, tmp_path / "v.txt", *SUBWORDS) == 0
    model, words = TFFastText.load(tmp_path / "model"), KeyedVectors.load_word2vec_format(str(tmp_path / "v.txt"))
    np.testing.assert_allclose(words["mat"], model.wv["mat"], atol=1e-6)


def test_a_saved_model_is_trained_further_with_its_own_ngrams(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(corpus, tmp_path / "model", *SUBWORDS) == 0
    further = ["train", corpus, "--from", tmp_path / "model", "--output", tmp_path / "more", "--epochs", 1, "--quiet"]
    assert run(*further, "--subwords") == 0
    assert TFFastText.load(tmp_path / "more").wv.bucket == 500
    assert run(*further, "--subwords", "--bucket", 7, "--force") == 2
    assert "--bucket 7 does not go with --from" in error_of(capsys)
    assert run(*further, "--force") == 2
    assert "can't be loaded" in error_of(capsys)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--bucket", 7], "--bucket is for --subwords; leave it out"),
        (["--subwords", "--comment", "x"], "--comment does not go with --subwords; leave it out"),
        (["--subwords", "--distribution", "partition"], "distribution='partition' cannot train words with n-grams"),
    ],
)
def test_flags_that_do_not_go_together_are_refused(
    corpus: Path, tmp_path: Path, flags: list[Any], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(corpus, tmp_path / "model", *flags) == 2
    assert message in error_of(capsys)


def test_a_finished_training_resumes_to_its_own_vectors(corpus: Path, tmp_path: Path) -> None:
    flags = [*SUBWORDS, "--checkpoint-dir", tmp_path / "checkpoints"]
    assert train(corpus, tmp_path / "one", *flags) == train(corpus, tmp_path / "two", *flags, "--resume") == 0
    one, two = (TFFastText.load(tmp_path / name).wv for name in ("one", "two"))
    for name in ("vectors", "vectors_vocab", "vectors_ngrams"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


def test_a_training_with_ngrams_is_resumed_with_them_alone(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--quiet", "--checkpoint-dir", tmp_path / "checkpoints"]
    assert train(corpus, tmp_path / "one", *SUBWORDS, *flags) == 0
    assert train(corpus, tmp_path / "two", *flags, "--resume") == 2
    assert "is of a TFFastText, and cannot be resumed by a TFWord2Vec; use TFFastText" in error_of(capsys)
    assert train(corpus, tmp_path / "two", *SUBWORDS, "--min-n", 2, *flags, "--resume") == 2
    assert "min_n is 2, and the training in" in error_of(capsys)
