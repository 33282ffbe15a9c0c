"""The training loss: gensim's running sum, and the mean per pair of each epoch that only our class has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gensim.models import Word2Vec
from gensim.models.callbacks import CallbackAny2Vec
from support.contract import two_topics

ARGUMENTS: dict[str, Any] = {"vector_size": 16, "min_count": 1, "workers": 1, "sample": 0, "epochs": 3}


class RunningLoss(CallbackAny2Vec):
    """Record the running loss at the end of each epoch."""

    def __init__(self) -> None:
        self.losses: list[float] = []

    def on_epoch_end(self, model: Any) -> None:
        self.losses.append(model.get_latest_training_loss())


def test_loss_is_a_positive_number_when_asked_for(word2vec_class: type[Any], mode: dict[str, int]) -> None:
    model = word2vec_class(two_topics(100), compute_loss=True, **ARGUMENTS, **mode)
    assert 0 < model.get_latest_training_loss() < 1e9


def test_loss_is_zero_when_not_asked_for(word2vec_class: type[Any], mode: dict[str, int]) -> None:
    model = word2vec_class(two_topics(100), **ARGUMENTS, **mode)
    assert model.get_latest_training_loss() == 0.0


def test_loss_grows_from_epoch_to_epoch(word2vec_class: type[Any]) -> None:
    record = RunningLoss()
    word2vec_class(two_topics(100), compute_loss=True, callbacks=[record], **ARGUMENTS)
    assert len(record.losses) == 3
    assert 0 < record.losses[0] < record.losses[1] < record.losses[2]


def test_loss_starts_again_with_each_training(word2vec_class: type[Any]) -> None:
    sentences = two_topics(100)
    model = word2vec_class(sentences, compute_loss=True, **ARGUMENTS)
    first = model.get_latest_training_loss()
    model.train(sentences, total_examples=100, epochs=3, compute_loss=True)
    assert 0 < model.get_latest_training_loss() < 1.1 * first


def test_loss_is_switched_off_by_the_next_training(word2vec_class: type[Any]) -> None:
    sentences = two_topics(100)
    model = word2vec_class(sentences, compute_loss=True, **ARGUMENTS)
    model.train(sentences, total_examples=100, epochs=1)
    assert model.get_latest_training_loss() == 0.0


def test_loss_is_the_sum_that_gensim_reports(tfword2vec_class: type[Any], pure_mode: dict[str, int]) -> None:
    """gensim adds up -log sigmoid over pairs (CBOW: over words), each with its negatives or its Huffman path.

    With a small alpha both learn next to nothing, so the sums depend on what is summed, not on the updates;
    what is left between seeds of gensim is the random window radius, 1 %.
    """
    arguments = ARGUMENTS | {"alpha": 1e-4, "min_alpha": 1e-4, "epochs": 2, "compute_loss": True}
    expected = Word2Vec(two_topics(), **arguments, **pure_mode).get_latest_training_loss()
    loss = tfword2vec_class(two_topics(), **arguments, **pure_mode).get_latest_training_loss()
    assert loss == pytest.approx(expected, rel=0.05)


def test_each_epoch_has_a_mean_loss_that_falls(tfword2vec_class: type[Any], mode: dict[str, int]) -> None:
    arguments = ARGUMENTS | {"epochs": 4, "alpha": 0.05}
    model = tfword2vec_class(two_topics(), compute_loss=True, **arguments, **mode)
    assert len(model.epoch_losses) == 4
    assert np.isfinite(model.epoch_losses).all()
    assert 0 < model.epoch_losses[-1] < model.epoch_losses[0]


def test_epoch_losses_are_those_of_the_last_training(tfword2vec_class: type[Any]) -> None:
    sentences = two_topics(100)
    model = tfword2vec_class(sentences, compute_loss=True, **ARGUMENTS)
    model.train(sentences, total_examples=100, epochs=2, compute_loss=True)
    assert len(model.epoch_losses) == 2


def test_loss_does_not_depend_on_the_number_of_workers(tfword2vec_class: type[Any]) -> None:
    losses = [
        tfword2vec_class(two_topics(), compute_loss=True, **ARGUMENTS | {"workers": workers}).get_latest_training_loss()
        for workers in (1, 4)
    ]
    assert losses[1] == pytest.approx(losses[0], rel=0.05)
