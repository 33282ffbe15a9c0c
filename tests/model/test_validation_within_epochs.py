"""`validation_every=`: what is measured after every so many words of an epoch."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.contract import assert_equal_models
from support.event_files import events_of
from support.overfitting import OTHERS, SETTINGS, TRAINED
from support.placements import shared_cluster

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.checkpoints.folder import CheckpointFolder
from gensim_tfw2v.corpus import passes
from gensim_tfw2v.corpus.chunks import Chunk
from gensim_tfw2v.placement.designs import DESIGNS

# Three blocks an epoch; the rate is the same everywhere, so a part of an epoch is an epoch of fewer sentences.
EVERY: dict[str, Any] = {**SETTINGS, "epochs": 2, "batch_words": 200, "validation_every": 150}
ENDS = [204, 408, 600]


def points_of(model: TFWord2Vec) -> list[dict[str, float]]:
    assert model.training_report is not None
    found: list[dict[str, float]] = model.training_report["validation"]["within_epochs"]
    return found


@pytest.fixture(scope="module")
def measured() -> TFWord2Vec:
    return TFWord2Vec(TRAINED, validation=OTHERS, **EVERY)


def test_a_point_has_the_loss_of_a_training_that_ends_there(measured: TFWord2Vec) -> None:
    first_epoch = [point for point in points_of(measured) if point["epoch"] == 0]
    assert [point["words"] for point in first_epoch] == ENDS
    for point in first_epoch:
        shorter = TFWord2Vec(**EVERY | {"epochs": 1})
        shorter.build_vocab(TRAINED)
        part = TRAINED[: point["words"] // 6]
        shorter.train(part, total_examples=len(part), epochs=1, validation=OTHERS)
        assert shorter.validation_losses == [point["loss"]], point
    assert first_epoch[-1]["loss"] == measured.validation_losses[0]
    assert [point["words"] for point in points_of(measured) if point["epoch"] == 1] == ENDS


def test_measuring_leaves_the_vectors_as_they_are(measured: TFWord2Vec) -> None:
    assert_equal_models(measured, TFWord2Vec(TRAINED, validation=OTHERS, **EVERY | {"validation_every": None}))


@pytest.mark.parametrize("every", [400, 400.0, "400", "400 words"])
def test_words_may_be_a_number_or_a_text(every: Any) -> None:
    model = TFWord2Vec(TRAINED, validation=OTHERS, **EVERY | {"validation_every": every})
    assert model.validation_every == 400
    assert [(point["epoch"], point["words"]) for point in points_of(model)] == [(0, 408), (1, 204), (1, 600)]


def test_without_the_argument_only_epochs_are_measured() -> None:
    model = TFWord2Vec(TRAINED, validation=OTHERS, **EVERY | {"validation_every": None})
    assert model.training_report is not None
    assert "within_epochs" not in model.training_report["validation"]


def test_several_workers_measure_too() -> None:
    model = TFWord2Vec(TRAINED, validation=OTHERS, **EVERY | {"workers": 3, "epochs": 20})
    found = [(point["epoch"], point["words"]) for point in points_of(model)]
    assert found == sorted(set(found))
    assert found[-1][0] == 19


def test_without_checkpoints_no_checksum_of_the_corpus_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a training that resumes needs to know whether the corpus is the same, and it takes time for each chunk."""
    computed: list[int] = []

    def counted(chunk: Chunk, before: int) -> int:
        computed.append(chunk.number)
        return before

    monkeypatch.setattr(passes, "checksum_after", counted)
    model = TFWord2Vec(TRAINED, validation=OTHERS, **EVERY)
    assert points_of(model)
    assert computed == []


def test_a_training_resumed_anywhere_has_the_points_of_an_uninterrupted_one(
    measured: TFWord2Vec, tmp_path: Path
) -> None:
    checkpoints = {"checkpoint_dir": tmp_path, "checkpoint_every": "1 words", "keep_checkpoints": 99}
    TFWord2Vec(TRAINED, validation=OTHERS, **EVERY | checkpoints)
    left = CheckpointFolder(tmp_path).checkpoints()
    assert len(left) > 1
    for path in left:
        resumed = TFWord2Vec.resume(path, TRAINED, validation=OTHERS)
        if resumed.training_report is not None:  # the training was not finished
            assert points_of(resumed) == points_of(measured)
        assert_equal_models(resumed, measured)


def test_points_are_logged_as_lines(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        model = TFWord2Vec(TRAINED, validation=OTHERS, **EVERY)
    for point in points_of(model):
        line = f"EPOCH {point['epoch']}: validation loss {point['loss']:.4f} after {point['words']} words"
        assert line in caplog.messages


def test_tensorboard_has_a_point_at_the_words_that_were_trained(tmp_path: Path) -> None:
    model = TFWord2Vec(TRAINED, validation=OTHERS, logdir=tmp_path, **EVERY)
    found = {point.step: point.value for point in events_of(tmp_path).Scalars("validation/loss")}
    assert found == pytest.approx({600 * point["epoch"] + point["words"]: point["loss"] for point in points_of(model)})


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_every_design_measures_within_epochs(design: str) -> None:
    settings = {**EVERY, "negative": 5, "epochs": 3, "validation_every": 300}
    model = TFWord2Vec(TRAINED, validation=OTHERS, distribution=design, cluster=shared_cluster(1, 2), **settings)
    found = [point["epoch"] for point in points_of(model)]
    assert set(found) == {0, 1, 2}
    assert np.isfinite([point["loss"] for point in points_of(model)]).all()
