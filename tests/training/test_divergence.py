"""Numbers that run away: seen when the block ends, named, and kept out of the tables."""

from __future__ import annotations

import copy
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models.callbacks import CallbackAny2Vec
from support.contract import MODES, SENTENCES, assert_finite, two_topics
from support.documents import Tagged
from support.placements import shared_cluster

from gensim_tfw2v import DivergenceError, TFDoc2Vec, TFFastText, TFWord2Vec
from gensim_tfw2v.checkpoints.folder import Checkpoint, CheckpointFolder
from gensim_tfw2v.training.divergence import Divergence

TOPICS = two_topics(2000)


def build(mode: dict[str, int], **settings: Any) -> TFWord2Vec:
    """Return an untrained model of two topics."""
    model = TFWord2Vec(vector_size=8, min_count=1, workers=1, sample=0, batch_words=6000, **mode, **settings)
    model.build_vocab(TOPICS)
    return model


def train(model: TFWord2Vec, **arguments: Any) -> DivergenceError:
    """Train a model on the two topics for three epochs; return the error of divergence."""
    with pytest.raises(DivergenceError) as caught:
        model.train(TOPICS, total_examples=len(TOPICS), **{"epochs": 3} | arguments)
    return caught.value


@pytest.mark.parametrize("place", ["local", pytest.param("cluster", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("mode", "alpha"),
    [
        (mode, alpha)
        for mode in MODES
        for alpha in (1e18, 1e36)
        # The tree leaves nodes alone whose scores are beyond 6, and so no number runs away with the lower rate.
        if MODES[mode]["negative"] or alpha == 1e36
    ],
)
def test_a_rate_far_too_high_is_an_error_that_says_where(mode: str, alpha: float, place: str) -> None:
    model = build(MODES[mode], alpha=alpha, cluster=shared_cluster() if place == "cluster" else None)
    error = train(model)
    assert error.divergence.epoch == 0
    assert f"with alpha {error.divergence.learning_rate:g}" in str(error)
    assert error.divergence.learning_rate == pytest.approx(alpha, rel=0.7)
    if alpha == 1e18:  # with the other one, every step is refused
        assert error.word in model.wv
        assert f"The word moved most is {error.word!r}, by " in str(error)
    assert_finite(model)
    assert model.alpha == alpha


@pytest.mark.slow
@pytest.mark.parametrize("distribution", ["averaging", "synchronous"])
def test_workers_that_meet_say_which_word_moved_most(distribution: str) -> None:
    model = build({"sg": 1}, alpha=1e18, cluster=shared_cluster(), distribution=distribution)
    error = train(model)
    assert error.word in model.wv
    assert f"The word moved most is {error.word!r}, by " in str(error)
    assert_finite(model)


@pytest.mark.slow
@pytest.mark.parametrize("distribution", ["downpour", "averaging"])
@pytest.mark.parametrize("cls", [TFFastText, TFDoc2Vec])
def test_no_word_is_named_after_a_row_of_an_n_gram_or_a_tag(cls: Any, distribution: str) -> None:
    model = cls(
        vector_size=8, min_count=1, workers=1, sample=0, batch_words=6000, alpha=1e18, distribution=distribution
    )
    corpus: Any = list(Tagged(TOPICS)) if cls is TFDoc2Vec else TOPICS
    model.build_vocab(corpus)
    with pytest.raises(DivergenceError) as caught:
        model.train(corpus, total_examples=len(TOPICS), epochs=3, cluster=shared_cluster())
    assert caught.value.word is None or caught.value.word in model.wv.key_to_index


@pytest.mark.parametrize("place", ["local", pytest.param("cluster", marks=pytest.mark.slow)])
def test_a_model_that_diverged_keeps_what_earlier_epochs_have_learnt(place: str) -> None:
    """The rate jumps in the third epoch, where every step is then refused."""
    mode = {"sg": 1, "hs": 0, "negative": 5}
    cluster = shared_cluster() if place == "cluster" else None
    model, shorter = build(mode, cluster=cluster), build(mode, cluster=cluster)

    class Jump:
        def __getattr__(self, name: str) -> Any:
            return lambda model: None

        def on_epoch_begin(self, model: Any) -> None:
            if len(model.epoch_losses) == 2:
                model.alpha = model.min_alpha = 1e36

    for number in range(2):
        (model if number else shorter).min_alpha = 0.025  # the same rates, however many epochs there are
    error = train(model, callbacks=[Jump()])
    shorter.train(TOPICS, total_examples=len(TOPICS), epochs=2)
    assert (error.divergence.epoch, error.divergence.batch) == (2, 0)
    assert len(model.epoch_losses) == 2
    np.testing.assert_allclose(model.wv.vectors, shorter.wv.vectors, atol=1e-6)


def test_the_last_checkpoint_of_the_training_is_named(tmp_path: Path) -> None:
    """A rate too high from the beginning leaves no checkpoint; that of an earlier training in the folder is no help."""
    model = build({"sg": 1}, checkpoint_dir=tmp_path, checkpoint_every="6000 words")
    error = train(model, start_alpha=1e36)
    assert error.checkpoint is None
    assert "checkpoint" not in str(error)

    callback = TooHigh(epoch=1)
    error = train(model, callbacks=[callback])
    newest = CheckpointFolder(tmp_path).checkpoints()[-1]
    assert error.checkpoint == str(newest)
    assert str(error).endswith(f". The last checkpoint is {newest}")
    resumed = Checkpoint(newest)
    resumed.check()
    assert resumed.content["training"]["epochs"][-1]["epoch"] == 0

    shutil.rmtree(tmp_path)
    model = build({"sg": 1}, checkpoint_dir=tmp_path)
    model.train(TOPICS, total_examples=len(TOPICS), epochs=1)
    error = train(model, start_alpha=1e36)
    assert CheckpointFolder(tmp_path).newest() is not None
    assert error.checkpoint is None


class TooHigh(CallbackAny2Vec):
    """Sets a rate that is far too high when an epoch begins."""

    def __init__(self, epoch: int) -> None:
        self.left = epoch

    def on_epoch_begin(self, model: Any) -> None:
        if self.left == 0:
            model.alpha = 1e36
        self.left -= 1


def test_a_model_trains_again_after_it_diverged() -> None:
    model = build({"sg": 1, "hs": 0, "negative": 5}, alpha=1e36)
    train(model)
    model.alpha = 0.025
    model.train(TOPICS, total_examples=len(TOPICS), epochs=1)
    assert_finite(model)
    assert np.isfinite(model.epoch_losses).all()


def test_a_rate_that_a_callback_makes_nan_is_named() -> None:
    class Spoil:
        def __getattr__(self, name: str) -> Any:
            return lambda model: None

        def on_epoch_begin(self, model: Any) -> None:
            model.alpha = model.min_alpha = float("nan")

    model = build({"sg": 0, "hs": 0, "negative": 5})
    assert "alpha nan" in str(train(model, callbacks=[Spoil()]))
    assert_finite(model)


def test_the_most_moved_word_is_the_one_that_moved() -> None:
    """Only one word's vector may move, and no step of it is finite."""
    model = build({"sg": 1, "hs": 0, "negative": 5})
    model.wv.vectors_lockf = np.zeros(len(model.wv), np.float32)
    row = model.wv.key_to_index["dog7"]
    model.wv.vectors_lockf[row] = 1e30
    error = train(model)
    assert error.word == "dog7"
    assert_finite(model)


def test_vectors_on_servers_that_diverged_are_finite() -> None:
    mode = {"sg": 1, "hs": 0, "negative": 5}
    model = build(mode, alpha=1e20, cluster=shared_cluster(), vectors_on_servers=True)
    assert train(model).word in model.wv
    assert all(np.isfinite(model.wv[word]).all() for word in model.wv.index_to_key)
    model.free_server_vectors()


def test_the_error_can_be_copied_and_pickled() -> None:
    error = DivergenceError(Divergence(1, 2, 3, 0.5), "user", 4.0)
    for other in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (str(other), other.divergence, other.word) == (str(error), error.divergence, "user")


def test_usual_training_is_not_refused(mode: dict[str, int]) -> None:
    model = TFWord2Vec(SENTENCES, vector_size=8, min_count=1, epochs=3, alpha=1.0, **mode)
    assert_finite(model)
