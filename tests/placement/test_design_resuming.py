"""Trainings of every design that are stopped in the midst of an epoch, and resumed in a new model."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.contract import assert_equal_models, assert_finite, topic_gap
from support.design_promises import DesignPromises
from support.design_trainings import (
    WORDS,
    Disturbed,
    ends_within,
    most_equal_workers,
    place_of,
    resumed,
    sentence_at,
    tables_freed,
    train,
    undisturbed,
    untrained,
)
from support.designs import designs_that, designs_that_do_not
from support.stopping import StopError, stop

from gensim_tfw2v import TFWord2Vec

Stopped = Callable[[DesignPromises], Path]


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Stopped:
    """Return a function that returns a copy of the checkpoints of a training, stopped within its second epoch."""
    folders: dict[str, Path] = {}

    def copy_of(design: DesignPromises) -> Path:
        if design.name not in folders:
            folders[design.name] = tmp_path_factory.mktemp(design.name) / "checkpoints"
            model = untrained(
                design,
                workers=most_equal_workers(design),
                checkpoint_dir=folders[design.name],
                checkpoint_every=f"{WORDS // 4} words",
            )
            with pytest.raises(StopError):
                train(design, model, Disturbed(sentence_at(1.6), stop))
        return shutil.copytree(folders[design.name], tmp_path_factory.mktemp(design.name) / "checkpoints")

    return copy_of


def trained_to_its_end(design: DesignPromises, folder: Path) -> TFWord2Vec:
    """Return the model of a training that was resumed, and has freed its tables."""
    with tables_freed(place_of(design)), ends_within(50):
        return resumed(design, folder)


@designs_that("resumes_equally")
def test_a_stopped_training_is_resumed_with_the_same_bits(design: DesignPromises, stopped: Stopped) -> None:
    model = trained_to_its_end(design, stopped(design))
    whole = undisturbed(design.name, most_equal_workers(design))
    assert_equal_models(model, whole)
    assert model.epoch_losses == whole.epoch_losses


@designs_that("resumes_in_training_equally")
def test_a_checkpoint_that_was_written_while_training_continued_is_resumed_with_the_same_bits(
    design: DesignPromises, stopped: Stopped
) -> None:
    *_, earlier, last = sorted(stopped(design).glob("checkpoint-*"))
    shutil.rmtree(last)  # which was written when training had stopped
    assert_equal_models(trained_to_its_end(design, earlier), undisturbed(design.name, most_equal_workers(design)))


@designs_that_do_not("resumes_equally")
def test_a_stopped_training_is_resumed_and_learns_to_its_end(design: DesignPromises, stopped: Stopped) -> None:
    model = trained_to_its_end(design, stopped(design))
    assert_finite(model)
    assert len(model.epoch_losses) == model.epochs
    assert model.epoch_losses[0] == undisturbed(design.name, most_equal_workers(design)).epoch_losses[0]
    assert topic_gap(model.wv) > 0.5
