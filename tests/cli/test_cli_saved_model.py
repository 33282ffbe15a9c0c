"""`tfw2v train --from MODEL` trains a saved model further, and `--freeze` leaves some of its vectors as they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec
from support.command_line import SENTENCES, error_of, run, write_corpus

from gensim_tfw2v import TFWord2Vec

QUIET = ["--epochs", "2", "--workers", "1", "--quiet"]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """Return the file of a model whose settings are not the defaults, and that knows one word of no corpus."""
    sentences = [line.split() for line in [*SENTENCES, "unheard"]]
    settings = {"vector_size": 8, "sg": 1, "window": 3, "min_count": 1, "negative": 4, "sample": 0, "workers": 1}
    TFWord2Vec(sentences, **settings).save(str(tmp_path / "saved"))
    return tmp_path / "saved"


def test_a_saved_model_is_trained_further_as_in_python(corpus: Path, saved: Path, tmp_path: Path) -> None:
    assert run("train", corpus, "--output", tmp_path / "new", "--from", saved, "--alpha", "0.05", *QUIET) == 0
    expected = TFWord2Vec.load(str(saved))
    expected.alpha, expected.epochs = 0.05, 2
    expected.train(corpus_file=str(corpus), total_words=420, total_examples=60, epochs=2)
    found = TFWord2Vec.load(str(tmp_path / "new"))
    assert found.wv.index_to_key == expected.wv.index_to_key
    assert (found.window, found.negative, found.sg, found.sample) == (3, 4, 1, 0)
    np.testing.assert_array_equal(found.wv.vectors, expected.wv.vectors)
    np.testing.assert_array_equal(found.syn1neg, expected.syn1neg)


@pytest.mark.parametrize("freeze", ["inputs", "outputs"])
def test_vectors_are_frozen(freeze: str, corpus: Path, saved: Path, tmp_path: Path) -> None:
    assert run("train", corpus, "--output", tmp_path / "new", "--from", saved, "--freeze", freeze, *QUIET) == 0
    before, after = (TFWord2Vec.load(str(path)) for path in (saved, tmp_path / "new"))
    assert np.array_equal(before.wv.vectors, after.wv.vectors) == (freeze == "inputs")
    assert np.array_equal(before.syn1neg, after.syn1neg) == (freeze == "outputs")


def test_models_of_gensim_are_trained_further(corpus: Path, tmp_path: Path) -> None:
    Word2Vec([line.split() for line in SENTENCES], vector_size=8, min_count=1).save(str(tmp_path / "gensims"))
    command = ["train", corpus, "--output", tmp_path / "new.kv", "--from", tmp_path / "gensims", "--freeze", "outputs"]
    assert run(*command, *QUIET) == 0
    assert KeyedVectors.load(str(tmp_path / "new.kv")).vectors.shape == (10, 8)


@pytest.mark.parametrize(("flags", "optimizer"), [([], "sgd"), (["--optimizer", "adagrad"], "adagrad")], ids=str)
def test_a_saved_model_keeps_its_optimizer_unless_another_is_named(
    flags: list[str], optimizer: str, corpus: Path, tmp_path: Path
) -> None:
    Word2Vec([line.split() for line in SENTENCES], vector_size=8, min_count=1).save(str(tmp_path / "gensims"))
    assert run("train", corpus, "--output", tmp_path / "new", "--from", tmp_path / "gensims", *flags, *QUIET) == 0
    assert TFWord2Vec.load(str(tmp_path / "new")).optimizer == optimizer


def test_a_training_from_a_saved_model_is_resumed(corpus: Path, saved: Path, tmp_path: Path) -> None:
    command = ["train", corpus, "--output", tmp_path / "new.kv", "--from", saved, "--freeze", "outputs", *QUIET]
    assert run(*command, "--checkpoint-dir", tmp_path / "checkpoints") == 0
    first = KeyedVectors.load(str(tmp_path / "new.kv")).vectors
    assert run(*command, "--checkpoint-dir", tmp_path / "checkpoints", "--resume") == 0
    np.testing.assert_array_equal(KeyedVectors.load(str(tmp_path / "new.kv")).vectors, first)


def test_a_setting_that_the_model_does_not_have_is_named(
    corpus: Path, saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["train", corpus, "--output", tmp_path / "new", "--from", saved, *QUIET]
    assert run(*command, "--window", "8") == 2
    assert "--window 8 does not go with --from" in error_of(capsys)
    assert run(*command, "--window", "3") == 0


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--freeze", "outputs"], "--freeze outputs needs a model to start from"),
        (["--from", "nowhere"], "--from 'nowhere' is not there"),
        (["--from", __file__], "is no model that can be trained"),
    ],
)
def test_flags_that_do_not_go_together_are_refused(
    flags: list[str], message: str, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("train", corpus, "--output", tmp_path / "new", *flags, *QUIET) == 2
    assert message in error_of(capsys)
