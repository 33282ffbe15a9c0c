"""A resumed training goes on with the validation losses, the patience and the best vectors that it had."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.contract import assert_equal_models, assert_equal_states
from support.overfitting import OTHERS, SETTINGS, TRAINED, Snapshots, sentences
from support.stopping import StopError

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.checkpoints.folder import CheckpointFolder
from gensim_tfw2v.training.validation import Validation

PATIENCE = 3
STOPPING: dict[str, Any] = {**SETTINGS, "validation": OTHERS, "early_stopping": PATIENCE, "batch_words": 200}
CHECKPOINTS: dict[str, Any] = {"checkpoint_every": "200 words"}


class StopAfter(Snapshots):
    """Ends a training after so many epochs."""

    def __init__(self, epochs: int) -> None:
        super().__init__()
        self.left = epochs

    def on_epoch_end(self, model: Any) -> None:
        self.left -= 1
        if not self.left:
            raise StopError


@pytest.fixture(scope="module")
def uninterrupted() -> TFWord2Vec:
    """Return a model that early stopping ended, some epochs after the best one."""
    return TFWord2Vec(TRAINED, **STOPPING)


def interrupted(folder: Path, after: int, **changes: Any) -> None:
    """Leave the checkpoints of a training that ends after so many epochs."""
    with pytest.raises(StopError):
        TFWord2Vec(TRAINED, callbacks=[StopAfter(after)], checkpoint_dir=folder, **STOPPING | CHECKPOINTS | changes)


@pytest.mark.parametrize("before_the_end", [1, PATIENCE - 1, PATIENCE, PATIENCE + 1])
def test_a_resumed_training_ends_where_an_uninterrupted_one_does(
    before_the_end: int, uninterrupted: TFWord2Vec, tmp_path: Path
) -> None:
    """It is interrupted before, at and after the best epoch."""
    interrupted(tmp_path, len(uninterrupted.validation_losses) - before_the_end)
    resumed = TFWord2Vec.resume(tmp_path, TRAINED, validation=OTHERS)
    assert resumed.validation_losses == uninterrupted.validation_losses
    assert_equal_models(resumed, uninterrupted)
    assert (resumed.epochs, resumed.train_count) == (uninterrupted.epochs, 1)


def test_a_training_that_ended_early_is_finished(uninterrupted: TFWord2Vec, tmp_path: Path) -> None:
    model = TFWord2Vec(TRAINED, checkpoint_dir=tmp_path, **STOPPING)
    assert_equal_models(model, uninterrupted)
    found = TFWord2Vec.resume(tmp_path)
    assert_equal_models(found, uninterrupted)
    assert found.validation_losses == uninterrupted.validation_losses
    assert found.epochs == uninterrupted.epochs
    longer = TFWord2Vec.resume(tmp_path, TRAINED, epochs=100, validation=OTHERS)
    assert_equal_models(longer, uninterrupted)
    TFWord2Vec(TRAINED, checkpoint_dir=tmp_path, **SETTINGS | {"epochs": 1})  # the folder may be used again


@pytest.mark.parametrize("before_the_end", [None, 1])
def test_the_best_epochs_optimizer_states_are_in_checkpoints(before_the_end: int | None, tmp_path: Path) -> None:
    """The training is interrupted after the best epoch, or it has finished."""
    settings = STOPPING | {"optimizer": "adagrad"}
    expected = TFWord2Vec(TRAINED, **settings)
    if before_the_end is None:
        TFWord2Vec(TRAINED, checkpoint_dir=tmp_path, **settings)
    else:
        interrupted(tmp_path, len(expected.validation_losses) - before_the_end, optimizer="adagrad")
    found = TFWord2Vec.resume(tmp_path, TRAINED, validation=OTHERS)
    assert_equal_models(found, expected)
    assert_equal_states(found, expected)


def test_more_patience_trains_a_finished_training_on(uninterrupted: TFWord2Vec, tmp_path: Path) -> None:
    TFWord2Vec(TRAINED, checkpoint_dir=tmp_path, **STOPPING)
    more = {"epochs": 40, "early_stopping": PATIENCE + 2}
    resumed = TFWord2Vec.resume(tmp_path, TRAINED, validation=OTHERS, **more)
    assert_equal_models(resumed, TFWord2Vec(TRAINED, **STOPPING | more))
    assert len(resumed.validation_losses) > len(uninterrupted.validation_losses)


def test_an_interrupt_while_the_loss_is_measured_is_made_up_for(
    uninterrupted: TFWord2Vec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure = Validation.measure

    def measure_or_stop(self: Validation, epoch: int) -> Mapping[str, float]:
        if epoch == len(uninterrupted.validation_losses) - PATIENCE - 1:
            raise StopError
        return measure(self, epoch)

    with monkeypatch.context() as patched, pytest.raises(StopError):
        patched.setattr(Validation, "measure", measure_or_stop)
        TFWord2Vec(TRAINED, checkpoint_dir=tmp_path, **STOPPING)
    resumed = TFWord2Vec.resume(tmp_path, TRAINED, validation=OTHERS)
    assert resumed.validation_losses == uninterrupted.validation_losses
    assert_equal_models(resumed, uninterrupted)


def as_file(folder: Path) -> str:
    path = folder / "others.txt"
    path.write_text("".join(" ".join(line) + "\n" for line in OTHERS), encoding="utf8")
    return str(path)


@pytest.mark.parametrize("validation_in", [lambda folder: 0.3, as_file], ids=["share", "file"])
def test_a_share_and_a_file_need_not_be_given_again(
    validation_in: Callable[[Path], float | str], tmp_path: Path
) -> None:
    chosen = {"validation": validation_in(tmp_path), "epochs": 5}
    interrupted(tmp_path / "checkpoints", 2, **chosen)
    resumed = TFWord2Vec.resume(tmp_path / "checkpoints", TRAINED)
    assert_equal_models(resumed, TFWord2Vec(TRAINED, **STOPPING | chosen))
    assert resumed.early_stopping is not None


def test_train_goes_on_with_the_totals_of_all_sentences(tmp_path: Path) -> None:
    interrupted(tmp_path, 2, validation=0.3, epochs=4)
    model = TFWord2Vec(checkpoint_dir=tmp_path, **STOPPING | {"validation": 0.3, "epochs": 4})
    model.build_vocab(TRAINED)
    totals = {"total_examples": model.corpus_count, "total_words": model.corpus_total_words}
    model.train(TRAINED, **totals, epochs=4, resume=True)
    assert_equal_models(model, TFWord2Vec(TRAINED, **STOPPING | {"validation": 0.3, "epochs": 4}))


@pytest.mark.parametrize(
    ("validation", "message"),
    [
        (None, r"is validated on an iterable of sentences, .* give it again"),
        (sentences(400, seed=3), "validation is a list, whose sentences differ"),
        (0.5, r"validation is 0\.5, whose sentences differ"),
    ],
)
def test_other_validation_sentences_are_refused(validation: Any, message: str, tmp_path: Path) -> None:
    interrupted(tmp_path, 2)
    with pytest.raises(ValueError, match=message):
        TFWord2Vec.resume(tmp_path, TRAINED, validation=validation, early_stopping=None)


def test_a_training_that_began_without_validation_cannot_get_one(tmp_path: Path) -> None:
    interrupted(tmp_path, 2, validation=None, early_stopping=None)
    with pytest.raises(ValueError, match="validation is a list, and the training began without one"):
        TFWord2Vec.resume(tmp_path, TRAINED, validation=OTHERS)


def test_checkpoints_hold_the_best_vectors_beside_those_in_training(uninterrupted: TFWord2Vec, tmp_path: Path) -> None:
    interrupted(tmp_path, len(uninterrupted.validation_losses) - 1)
    newest = CheckpointFolder(tmp_path).newest()
    assert newest is not None
    np.testing.assert_array_equal(newest.array("best.inputs"), uninterrupted.wv.vectors)
    np.testing.assert_array_equal(newest.array("best.outputs"), uninterrupted.syn1neg)
    assert not np.array_equal(newest.array("inputs"), uninterrupted.wv.vectors)
