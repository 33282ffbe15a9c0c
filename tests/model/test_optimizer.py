"""Which optimizer trains; Adagrad: in every mode, repeatable, and continued by the next training."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import Word2Vec
from support.command_line import train as train_by_command
from support.command_line import write_corpus
from support.contract import (
    SENTENCES,
    SMALL,
    assert_equal_models,
    assert_equal_states,
    assert_finite,
    learnt_arrays,
    topic_gap,
    two_topics,
)
from support.documents import Tagged
from support.mode_cases import EVERY_MODE
from support.placements import shared_cluster

from gensim_tfw2v import TFDoc2Vec, TFFastText, TFWord2Vec, tuning
from gensim_tfw2v.model.optimizer_choice import first_state

CORPUS = two_topics()
SETTINGS: dict[str, Any] = {**SMALL, "workers": 1, "seed": 3, "optimizer": "adagrad"}


def trained(**settings: Any) -> TFWord2Vec:
    """Return a model that was trained with Adagrad."""
    return TFWord2Vec(CORPUS, **SETTINGS | settings)


def train_again(model: TFWord2Vec) -> TFWord2Vec:
    """Train a model once more, and return it."""
    model.train(CORPUS, total_examples=model.corpus_count, epochs=2)
    return model


@pytest.fixture(scope="module")
def even_corpus() -> list[list[str]]:
    """Return sentences of twenty letters that are about equally frequent, each often."""
    letters = np.array(list("abcdefghijklmnopqrst"))
    return letters[np.random.default_rng(4).integers(0, 20, (500, 10))].tolist()  # type: ignore[no-any-return]


def test_the_first_training_chooses_adagrad_for_text() -> None:
    model = TFWord2Vec(**SMALL, workers=1, seed=3)
    assert model.optimizer is None
    model.build_vocab(SENTENCES)
    assert model.optimizer is None
    model.train(SENTENCES, total_examples=model.corpus_count, epochs=model.epochs)
    assert model.optimizer == "adagrad"
    assert "optimizer=adagrad" in next(event["msg"] for event in model.lifecycle_events if event["event"] == "train")
    assert_equal_models(model, TFWord2Vec(SENTENCES, **SETTINGS))


def test_the_first_training_chooses_sgd_where_words_are_equally_frequent(even_corpus: list[list[str]]) -> None:
    model = TFWord2Vec(even_corpus, **SMALL, workers=1, seed=3)
    assert model.optimizer == "sgd"
    assert_equal_models(model, TFWord2Vec(even_corpus, **SETTINGS | {"optimizer": "sgd"}))


@pytest.mark.parametrize("name", [lambda word: f"node{len(word)}{word}", len], ids=["with digits", "numbers"])
def test_the_first_training_chooses_sgd_for_ids(name: Callable[[str], Any]) -> None:
    assert TFWord2Vec([[name(word) for word in sentence] for sentence in SENTENCES], **SMALL).optimizer == "sgd"


@pytest.mark.parametrize(("sg", "alpha", "chosen"), [(0, 0.05, "adagrad"), (0, 0.1, "sgd"), (1, 0.1, "adagrad")])
def test_the_first_training_chooses_sgd_for_cbow_with_a_high_rate(sg: int, alpha: float, chosen: str) -> None:
    assert TFWord2Vec(SENTENCES, **SMALL | {"sg": sg, "alpha": alpha}).optimizer == chosen


@pytest.mark.parametrize("sg", [0, 1])
@pytest.mark.parametrize(
    ("epochs", "words", "chosen"),
    [(19, 1_000_000, "adagrad"), (20, 1_000_000, "sgd"), (20, 10_000, "adagrad"), (600, 10_000, "sgd")],
)
def test_the_first_training_chooses_sgd_for_many_epochs_of_many_words(
    sg: int, epochs: int, words: int, chosen: str
) -> None:
    model = TFWord2Vec(**SMALL | {"sg": sg})
    _count(model, words)
    model.train(SENTENCES, total_examples=len(SENTENCES), epochs=epochs)
    assert model.optimizer == chosen


@pytest.mark.parametrize(
    ("dm", "epochs", "chosen"), [(0, 39, "adagrad"), (0, 40, "sgd"), (1, 40, "adagrad")], ids=["dbow", "dbow", "dm"]
)
def test_documents_take_more_epochs_until_sgd_is_chosen(
    dm: int, epochs: int, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "LEAST_WORDS_FOR_SGD", 1_000)
    assert TFDoc2Vec(list(Tagged(SENTENCES)), **SMALL | {"dm": dm, "epochs": epochs}).optimizer == chosen


def _count(model: Word2Vec, words: int) -> None:
    """Give a model the vocabulary of the sentences, as if they were part of a corpus in which a word came so often."""
    most_frequent, *others = sorted({word for sentence in SENTENCES for word in sentence})
    model.build_vocab_from_freq({most_frequent: words} | dict.fromkeys(others, 1))


def test_some_words_with_digits_are_text() -> None:
    assert TFWord2Vec([*SENTENCES, *[["2026", "b2b", "42"]] * 50], **SMALL).optimizer == "adagrad"


def test_what_was_chosen_is_logged(caplog: pytest.LogCaptureFixture, even_corpus: list[list[str]]) -> None:
    with caplog.at_level("INFO", "gensim_tfw2v.model"):
        TFWord2Vec(even_corpus, **SMALL)
        TFWord2Vec(SENTENCES, **SMALL, optimizer="sgd")
    chosen = [record.getMessage() for record in caplog.records if "because" in record.getMessage()]
    assert chosen == ["optimizer='sgd', because all words are about equally frequent"]


def test_a_design_without_adagrad_trains_by_sgd() -> None:
    assert TFWord2Vec(SENTENCES, **SMALL, distribution="lbfgs").optimizer == "sgd"


def test_what_was_chosen_stays_when_words_are_added_and_is_saved(tmp_path: Path) -> None:
    model = TFWord2Vec(SENTENCES, **SMALL)
    more = [[f"new{number}" for number in range(20)]] * 20
    model.build_vocab(more, update=True)
    model.train(more, total_examples=len(more), epochs=1)
    assert model.optimizer == "adagrad"
    model.save(str(tmp_path / "model"))
    assert TFWord2Vec.load(str(tmp_path / "model")).optimizer == "adagrad"


def test_a_training_that_fails_leaves_the_choice_to_the_next() -> None:
    model = TFWord2Vec(**SMALL)
    model.build_vocab(SENTENCES)
    with pytest.raises(TypeError):
        model.train([["human"], 3], total_examples=2, epochs=1)  # type: ignore[list-item]
    assert model.optimizer is None


@pytest.mark.parametrize("trained_before", [True, False])
def test_a_model_of_gensim_goes_on_as_it_was_trained(tmp_path: Path, trained_before: bool) -> None:
    plain = Word2Vec(SENTENCES if trained_before else None, **SMALL)
    plain.save(str(tmp_path / "model"))
    assert TFWord2Vec.load(str(tmp_path / "model")).optimizer == "sgd"


def test_a_model_of_a_version_without_the_argument_goes_on_as_it_was_trained() -> None:
    model = TFWord2Vec(SENTENCES, **SMALL, optimizer="sgd")
    state = model.__getstate__()
    del state["optimizer"]
    older = TFWord2Vec.__new__(TFWord2Vec)
    older.__setstate__(state)
    assert older.optimizer == "sgd"


@pytest.mark.parametrize("optimizer", ["sgd", "adagrad"])
def test_a_training_that_is_resumed_without_an_optimizer_has_that_of_its_checkpoint(
    tmp_path: Path, optimizer: str
) -> None:
    settings = SETTINGS | {"optimizer": optimizer, "checkpoint_dir": tmp_path}
    finished = TFWord2Vec(SENTENCES, **settings)
    again = TFWord2Vec(**settings | {"optimizer": None})
    again.build_vocab(SENTENCES)
    again.train(SENTENCES, total_examples=again.corpus_count, epochs=again.epochs, resume=True)
    assert again.optimizer == optimizer
    assert_equal_models(finished, again)


@pytest.mark.parametrize("mode", EVERY_MODE)
def test_adagrad_learns_in_every_mode_and_gives_the_same_bits_twice(mode: dict[str, int]) -> None:
    model = trained(**mode, epochs=8)
    assert_finite(model)
    assert topic_gap(model.wv) > 0.5
    assert model.epoch_losses[-1] < model.epoch_losses[0]
    assert_equal_models(model, trained(**mode, epochs=8))
    assert not np.array_equal(model.wv.vectors, trained(**mode, epochs=8, optimizer="sgd").wv.vectors)


def test_threads_share_the_states_of_rows() -> None:
    alone, together = trained(sg=1, epochs=8), trained(sg=1, epochs=8, workers=4)
    np.testing.assert_allclose(together.epoch_losses[-1], alone.epoch_losses[-1], rtol=0.1)
    assert topic_gap(together.wv) > 0.5


def test_a_training_continues_with_the_states_of_the_one_before() -> None:
    """Rows that have been trained move less far than rows without a state."""
    model, anew = trained(sg=1), trained(sg=1)
    assert_equal_models(model, anew)
    before = model.wv.vectors.copy()
    states = {name: values.copy() for name, values in model.optimizer_states.items()}
    anew.optimizer_states = {}
    moved, moved_anew = (np.linalg.norm(train_again(one).wv.vectors - before, axis=1).mean() for one in (model, anew))
    assert moved < moved_anew
    for name, values in model.optimizer_states.items():
        assert (values >= states[name]).all() and (values > states[name]).any()
        assert (values > anew.optimizer_states[name]).any()


@pytest.mark.parametrize(
    ("epochs", "count", "state"),
    [(1, 9_000_000, 0), (2, 2_400_000, 0), (2, 2_500_000, 300), (5, 1_000_000, 2_400), (60, 1_000_000, 39_900)],
)
def test_rows_begin_with_a_state_that_follows_from_the_epochs_unless_these_train_few_words(
    epochs: int, count: int, state: float
) -> None:
    model = TFWord2Vec(epochs=epochs, min_count=1)
    model.build_vocab_from_freq({"a": count - 10, "b": 10})
    assert first_state(model) == state


def test_documents_ngrams_and_the_tree_begin_with_states_of_0(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "LEAST_WORDS_FOR_SGD", 100)
    assert first_state(trained(epochs=2)) == 300
    assert first_state(trained(epochs=2, hs=1)) == 0
    assert first_state(TFDoc2Vec(list(Tagged(SENTENCES)), **SMALL)) == 0
    assert first_state(TFFastText(SENTENCES, **SMALL, bucket=100)) == 0


def test_a_training_of_many_words_begins_with_the_first_state(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = TFWord2Vec(**SETTINGS | {"epochs": 3})
    begun.build_vocab(CORPUS)
    begun.optimizer_states = {name: np.full(len(begun.wv), 800, np.float32) for name in ("inputs", "outputs")}
    begun.train(CORPUS, total_examples=begun.corpus_count, epochs=3)
    monkeypatch.setattr(tuning, "LEAST_WORDS_FOR_SGD", 1_000)
    model = trained(epochs=3)
    assert_equal_models(model, begun)
    assert_equal_states(model, begun)
    model.build_vocab([["new", "words"] * 5], update=True)
    model.train([["new", "words"] * 5], total_examples=1, epochs=200)
    assert (model.optimizer_states["inputs"][-2:] > 39_900).all()
    train_again(model)
    assert (model.optimizer_states["inputs"][-2:] < 50_000).all()  # states of trained rows stay


def test_a_saved_model_continues_with_its_states(tmp_path: Path) -> None:
    model = trained(sg=1, hs=1)
    model.save(str(tmp_path / "model"))
    loaded = TFWord2Vec.load(str(tmp_path / "model"))
    assert set(loaded.optimizer_states) == {"inputs", "outputs", "nodes"}
    assert_equal_models(train_again(model), train_again(loaded))


def test_a_model_of_a_finished_training_continues_with_the_states_of_its_checkpoint(tmp_path: Path) -> None:
    model = trained(sg=1, checkpoint_dir=tmp_path)
    resumed = TFWord2Vec.resume(tmp_path, CORPUS)
    assert_equal_states(model, resumed)
    assert_equal_models(train_again(model), train_again(resumed))


def test_new_words_begin_without_states_and_new_weights_too() -> None:
    model = trained(sg=1)
    before = model.optimizer_states["inputs"].copy()
    model.build_vocab([["new", "words"] * 5], update=True)
    model.train([["new", "words"] * 5], total_examples=1, epochs=1)
    after = model.optimizer_states["inputs"]
    assert len(after) == len(model.wv) == len(before) + 2
    assert (after[: len(before)] >= before).all() and (after[len(before) :] > 0).all()
    model.init_weights()
    assert model.optimizer_states == {}


def test_the_states_of_a_tree_with_more_nodes_stay_as_its_vectors_do() -> None:
    model = trained(sg=1, hs=1, negative=0)
    before = model.optimizer_states["nodes"].copy()
    model.build_vocab([["new", "words"] * 5], update=True)
    model.train([["new", "words"] * 5], total_examples=1, epochs=1)
    after = model.optimizer_states["nodes"]
    assert len(after) == len(model.wv) == len(before) + 2
    assert (after[: len(before)] >= before).all()
    assert (after[: len(before)] == before).any()  # most nodes are on no new word's path


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ([], "must be a dictionary to train, got list; set model.optimizer_states to {}"),
        ({"inputs": [1.0]}, "must be an array of float32 numbers to train; set"),
        ({"inputs": np.zeros((3, 3), np.float32)}, "must be an array of float32 numbers to train; set"),
        ({"inputs": np.array([np.nan], np.float32)}, "must hold finite numbers of 0 or more to train; set"),
        ({"inputs": np.array([-1], np.float32)}, "must hold finite numbers of 0 or more to train; set"),
    ],
)
def test_states_that_are_no_states_are_refused(states: Any, message: str) -> None:
    model = trained(sg=1)
    model.optimizer_states = states
    with pytest.raises(RuntimeError, match=re.escape(message)):
        train_again(model)


def test_a_partition_leaves_no_states() -> None:
    model = trained(sg=1, distribution="partition")
    assert_finite(train_again(model))
    assert not any(values.any() for values in model.optimizer_states.values())


def test_sgd_has_no_states_nor_has_a_model_without_words() -> None:
    assert TFWord2Vec(optimizer="adagrad").optimizer_states == {}
    assert trained(optimizer="sgd").optimizer_states == {}


def test_a_saved_model_has_vectors_without_states_and_opens_in_plain_gensim(tmp_path: Path) -> None:
    model = trained(sg=1, hs=1)
    assert all(values.shape[1] == model.vector_size for values in learnt_arrays(model).values())
    assert model.to_gensim().wv.vectors.shape == model.wv.vectors.shape
    model.save(str(tmp_path / "model"))
    assert TFWord2Vec.load(str(tmp_path / "model")).optimizer == "adagrad"
    plain = Word2Vec.load(str(tmp_path / "model"))
    np.testing.assert_array_equal(plain.wv.vectors, model.wv.vectors)
    plain.train(CORPUS, total_examples=plain.corpus_count, epochs=1)


def test_a_locked_vector_stays() -> None:
    model = TFWord2Vec(**SETTINGS, sg=1)
    model.build_vocab(CORPUS)
    model.wv.vectors_lockf = np.ones(len(model.wv), np.float32)
    model.wv.vectors_lockf[:5] = 0
    before = model.wv.vectors.copy()
    train_again(model)
    np.testing.assert_array_equal(model.wv.vectors[:5], before[:5])
    assert (model.wv.vectors[5:] != before[5:]).any(1).all()


def test_the_optimizer_of_a_model_may_be_changed_between_trainings() -> None:
    model, other = trained(sg=1, optimizer="sgd"), trained(sg=1, optimizer="sgd")
    model.optimizer = "adagrad"
    assert not np.array_equal(train_again(model).wv.vectors, train_again(other).wv.vectors)
    model.optimizer = "adam"
    with pytest.raises(ValueError, match="optimizer must be 'sgd' or 'adagrad', got 'adam'"):
        train_again(model)


def test_a_training_is_resumed_with_its_optimizer_alone(tmp_path: Path) -> None:
    model = trained(sg=1, checkpoint_dir=tmp_path)
    assert model.training_report is not None and model.training_report["checkpoints"]["written"] > 0
    with pytest.raises(ValueError, match=r"optimizer is 'sgd', and the training in .* began with 'adagrad'"):
        other = TFWord2Vec(**SETTINGS | {"optimizer": "sgd", "sg": 1, "checkpoint_dir": tmp_path})
        other.build_vocab(CORPUS)
        other.train(CORPUS, total_examples=other.corpus_count, epochs=3, resume=True)


@pytest.mark.slow
def test_one_worker_and_one_server_give_the_vectors_of_local_training() -> None:
    local, remote = (trained(sg=1, epochs=2, cluster=cluster) for cluster in (None, shared_cluster(1, 1)))
    for name, values in learnt_arrays(local).items():
        np.testing.assert_allclose(learnt_arrays(remote)[name], values, atol=1e-4, err_msg=name)


def test_a_flag_chooses_the_optimizer(tmp_path: Path) -> None:
    assert train_by_command(write_corpus(tmp_path), tmp_path / "model", "--optimizer", "adagrad") == 0
    assert TFWord2Vec.load(str(tmp_path / "model")).optimizer == "adagrad"
