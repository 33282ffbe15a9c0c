"""Trainings that end early and are resumed: in the same place, with the same results, and nothing else."""

from __future__ import annotations

import json
import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models.callbacks import CallbackAny2Vec
from support.contract import PURE_MODES, assert_equal_models, topic_gap
from support.mode_cases import MODE_NAMES
from support.resumed_training import EPOCHS, SENTENCES, SETTINGS, WORDS, Interrupted, killed, train, untrained
from support.stopping import StopError, stop

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.checkpoints.errors import CheckpointError
from gensim_tfw2v.checkpoints.folder import Checkpoint, CheckpointFolder

RANDOM = np.random.default_rng(45)


@pytest.fixture(scope="module")
def uninterrupted() -> Callable[[str], TFWord2Vec]:
    """Return a function that returns the model of a mode after a training that nothing interrupts."""
    models: dict[str, TFWord2Vec] = {}

    def model_of(mode: str) -> TFWord2Vec:
        if mode not in models:
            models[mode] = train(untrained(mode))
        return models[mode]

    return model_of


def interrupted(folder: Path, sentence: int = 11000, mode: str = "skipgram-negative", **settings: Any) -> TFWord2Vec:
    """Return a model whose training ends early, with checkpoints."""
    model = untrained(mode, checkpoint_dir=folder, cache_memory=0, **settings)
    with pytest.raises(StopError):
        train(model, Interrupted(sentence, stop))
    return model


@pytest.mark.parametrize("mode", MODE_NAMES)
def test_a_resumed_training_gives_the_vectors_of_one_that_was_not_interrupted(
    mode: str, uninterrupted: Callable[[str], TFWord2Vec], tmp_path: Path
) -> None:
    interrupted(tmp_path, mode=mode)
    resumed = TFWord2Vec.resume(tmp_path, SENTENCES)
    assert_equal_models(uninterrupted(mode), resumed)
    assert resumed.epoch_losses == uninterrupted(mode).epoch_losses
    assert resumed.train_count == 1
    assert resumed.alpha == uninterrupted(mode).alpha


@pytest.mark.usefixtures("heeded_interrupts")
def test_a_training_that_a_keyboard_interrupt_ends_within_an_epoch_is_resumed_there(
    uninterrupted: Callable[[str], TFWord2Vec], tmp_path: Path
) -> None:
    """The last checkpoint does not count the epoch as finished: its other words are still to be trained."""

    def interrupt() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.5)  # in the thread that reads, until training has stopped

    model = untrained("skipgram-negative", checkpoint_dir=tmp_path, cache_memory=0)
    with pytest.raises(KeyboardInterrupt):
        train(model, Interrupted(11000, interrupt))
    resumed = TFWord2Vec.resume(tmp_path, SENTENCES)
    assert_equal_models(uninterrupted("skipgram-negative"), resumed)
    assert resumed.epoch_losses == uninterrupted("skipgram-negative").epoch_losses


@pytest.mark.parametrize(
    ("mode", "stage"),
    [("skipgram-negative", "checkpoint"), pytest.param("cbow-hierarchical", "write", marks=pytest.mark.slow)],
)
def test_a_killed_training_is_resumed(
    mode: str, stage: str, uninterrupted: Callable[[str], TFWord2Vec], tmp_path: Path
) -> None:
    killed(mode, tmp_path, 11000, stage)
    assert_equal_models(uninterrupted(mode), TFWord2Vec.resume(tmp_path, SENTENCES))


@pytest.mark.slow
@pytest.mark.parametrize("mode", PURE_MODES)
def test_a_training_killed_at_random_moments_is_resumed(
    mode: str, uninterrupted: Callable[[str], TFWord2Vec], tmp_path: Path
) -> None:
    for number, sentence in enumerate(RANDOM.integers(4500, EPOCHS * len(SENTENCES), 10).tolist()):
        folder = tmp_path / str(number)
        killed(mode, folder, sentence, "write" if number < 3 else "")
        # Not `resume()`: a process that is killed early may have written no checkpoint yet.
        resumed = train(untrained(mode, checkpoint_dir=folder), resume=True)
        assert_equal_models(uninterrupted(mode), resumed)


def test_a_training_that_is_interrupted_again_and_again_ends_with_the_same_vectors(
    uninterrupted: Callable[[str], TFWord2Vec], tmp_path: Path
) -> None:
    interrupted(tmp_path, 5000)
    for sentence in (11000, 10500):
        with pytest.raises(StopError):
            TFWord2Vec.resume(tmp_path, Interrupted(sentence, stop), cache_memory=0)
    assert_equal_models(uninterrupted("skipgram-negative"), TFWord2Vec.resume(tmp_path, SENTENCES))


def test_training_goes_on_in_the_midst_of_an_epoch(tmp_path: Path) -> None:
    interrupted(tmp_path)
    newest = CheckpointFolder(tmp_path).newest()
    assert newest is not None
    first, second = newest.content["training"]["epochs"]
    assert first["is_finished"]
    assert 0 < second["counts"]["raw_words"] < WORDS


def test_several_workers_train_every_chunk_once(tmp_path: Path) -> None:
    interrupted(tmp_path, 11000, workers=2)
    resumed = TFWord2Vec.resume(tmp_path, SENTENCES)
    newest = CheckpointFolder(tmp_path).newest()
    assert newest is not None
    epochs = newest.content["training"]["epochs"]
    assert [epoch["counts"]["raw_words"] for epoch in epochs] == [WORDS] * EPOCHS
    assert topic_gap(resumed.wv) > 0.5


def test_train_goes_on_with_a_model_at_hand(uninterrupted: Callable[[str], TFWord2Vec], tmp_path: Path) -> None:
    interrupted(tmp_path)
    model = train(untrained("skipgram-negative", checkpoint_dir=tmp_path), resume=True)
    assert_equal_models(uninterrupted("skipgram-negative"), model)


def test_the_first_training_of_a_folder_begins_anew(uninterrupted: Callable[[str], TFWord2Vec], tmp_path: Path) -> None:
    model = train(untrained("skipgram-negative", checkpoint_dir=tmp_path / "new"), resume=True)
    assert_equal_models(uninterrupted("skipgram-negative"), model)


def test_a_finished_training_is_not_trained_again(tmp_path: Path) -> None:
    model = train(untrained("skipgram-negative", checkpoint_dir=tmp_path))
    found = TFWord2Vec.resume(tmp_path)
    assert_equal_models(model, found)
    assert found.train_count == 1
    again = train(untrained("skipgram-negative", checkpoint_dir=tmp_path), resume=True)
    assert_equal_models(model, again)


def test_a_finished_training_goes_on_with_more_epochs(tmp_path: Path) -> None:
    train(untrained("skipgram-negative", checkpoint_dir=tmp_path, seed=3))
    longer = TFWord2Vec.resume(tmp_path, SENTENCES, epochs=EPOCHS + 2)
    assert len(longer.epoch_losses) == longer.epochs == EPOCHS + 2


def test_numbers_of_other_types_are_kept(tmp_path: Path) -> None:
    numbers = {"window": np.int64(5), "update_bound": np.float32(20), "alpha": np.float64(0.025)}
    model = untrained("skipgram-negative", checkpoint_dir=tmp_path)
    vars(model).update(numbers)
    train(model, total_examples=np.int64(len(SENTENCES)), total_words=np.int32(WORDS))
    assert_equal_models(model, TFWord2Vec.resume(tmp_path))


def test_files_are_resumed(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("".join(" ".join(sentence) + "\n" for sentence in SENTENCES))
    whole = TFWord2Vec(corpus_file=str(corpus), **SETTINGS)
    folder = tmp_path / "checkpoints"
    with pytest.raises(StopError):
        TFWord2Vec(corpus_file=str(corpus), **SETTINGS, checkpoint_dir=folder, callbacks=[StopAt(1)])
    assert_equal_models(whole, TFWord2Vec.resume(folder, corpus_file=str(corpus)))


class StopAt(CallbackAny2Vec):
    """End training at the end of an epoch."""

    def __init__(self, epoch: int) -> None:
        self.left = epoch

    def on_epoch_end(self, model: Any) -> None:
        self.left -= 1
        if self.left < 0:
            raise StopError


class Heard(CallbackAny2Vec):
    """Remember what callbacks hear."""

    def __init__(self) -> None:
        self.epochs: list[str] = []

    def on_epoch_begin(self, model: Any) -> None:
        self.epochs.append("begin")

    def on_epoch_end(self, model: Any) -> None:
        self.epochs.append("end")


def test_callbacks_hear_of_the_end_of_each_epoch_once(tmp_path: Path) -> None:
    model = untrained("skipgram-negative", checkpoint_dir=tmp_path, cache_memory=0)
    before, after = Heard(), Heard()
    with pytest.raises(StopError):
        train(model, Interrupted(11000, stop), callbacks=[before])
    TFWord2Vec.resume(tmp_path, SENTENCES, callbacks=[after])
    assert before.epochs == ["begin", "end", "begin"]
    assert after.epochs == ["begin", "end", "begin", "end"]


def end_of_writing() -> None:
    """Return once no checkpoint is being written."""
    for thread in threading.enumerate():
        if thread.name == "tfw2v-checkpoint":
            thread.join()


def test_callbacks_do_not_hear_again_of_an_end_after_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(Heard):
        """End training at the end of the second epoch, without a further checkpoint, as a signal would."""

        def on_epoch_begin(self, model: Any) -> None:
            super().on_epoch_begin(model)
            end_of_writing()  # so that each epoch has a checkpoint of its own

        def on_epoch_end(self, model: Any) -> None:
            super().on_epoch_end(model)
            if len(self.epochs) == 4:
                end_of_writing()
                monkeypatch.setattr(CheckpointFolder, "write", lambda *_: stop())
                raise StopError

    before, after = Killed(), Heard()
    with pytest.raises(StopError):
        train(untrained("skipgram-negative", checkpoint_dir=tmp_path), callbacks=[before])
    monkeypatch.undo()
    newest = CheckpointFolder(tmp_path).newest()
    assert newest is not None
    assert newest.content["training"]["epochs_ended"] == 1
    TFWord2Vec.resume(tmp_path, SENTENCES, callbacks=[after])
    assert before.epochs == ["begin", "end"] * 2
    assert after.epochs == ["begin", "begin", "end"]


def test_a_resumed_training_keeps_its_name(tmp_path: Path) -> None:
    interrupted(tmp_path)
    checkpoints = CheckpointFolder(tmp_path)
    before = checkpoints.newest()
    TFWord2Vec.resume(tmp_path, SENTENCES)
    after = checkpoints.newest()
    assert before is not None
    assert after is not None
    assert after.path != before.path
    assert after.content["training"]["run"] == before.content["training"]["run"]


@pytest.mark.parametrize(
    ("settings", "arguments", "message"),
    [
        ({"window": 4}, {}, "window is 4, and the training in .* began with 5"),
        ({"seed": 6}, {}, "seed is 6"),
        ({"alpha": 0.05}, {}, "alpha is 0.05"),
        ({"min_count": 1800}, {}, "vocabulary of .* words differs"),
        ({}, {"epochs": 2}, "epochs is 2, and the training in .* was to have 3"),
        ({}, {"total_examples": 5900}, "total_examples is 5900"),
        ({}, {"sentences": SENTENCES[::-1]}, "the first .* sentences of the corpus are others"),
        ({}, {"sentences": SENTENCES[:300]}, "the corpus has only 300 sentences"),
    ],
)
def test_another_corpus_or_setting_is_refused(
    settings: dict[str, Any], arguments: dict[str, Any], message: str, tmp_path: Path
) -> None:
    interrupted(tmp_path)
    model = untrained("skipgram-negative", checkpoint_dir=tmp_path, **settings)
    with pytest.raises(ValueError, match=message):
        train(model, resume=True, **arguments)


def test_a_training_that_is_not_finished_is_not_replaced(tmp_path: Path) -> None:
    interrupted(tmp_path)
    with pytest.raises(ValueError, match="not finished; resume it"):
        train(untrained("skipgram-negative", checkpoint_dir=tmp_path))


def test_a_training_resumed_from_elsewhere_does_not_replace_one_that_is_not_finished(tmp_path: Path) -> None:
    interrupted(tmp_path / "first")
    interrupted(tmp_path / "second")
    model = untrained("skipgram-negative", checkpoint_dir=tmp_path / "second")
    with pytest.raises(ValueError, match="second' has a training that is not finished"):
        train(model, resume=tmp_path / "first")
    model.checkpoint_dir = tmp_path / "third"
    train(model, resume=tmp_path / "first")
    assert CheckpointFolder(tmp_path / "third").checkpoints()


def test_a_model_is_trained_a_second_time_in_the_same_folder(tmp_path: Path) -> None:
    model = train(untrained("skipgram-negative", checkpoint_dir=tmp_path))
    train(model)
    assert model.train_count == 2
    assert TFWord2Vec.resume(tmp_path).train_count == 2


def test_words_that_a_checkpoint_cannot_hold_are_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"str or int, and the vocabulary has \('[ab]', [12]\)"):
        TFWord2Vec([[("a", 1), ("b", 2)]] * 20, min_count=1, checkpoint_dir=tmp_path)


def test_numbers_may_be_words(tmp_path: Path) -> None:
    sentences = [[0, 1, "1", "é\ud800"], [2, 0]] * 20
    model = TFWord2Vec(sentences, min_count=1, vector_size=4, checkpoint_dir=tmp_path)
    assert TFWord2Vec.resume(tmp_path).wv.index_to_key == model.wv.index_to_key


def test_resume_refuses_settings_that_may_not_change(tmp_path: Path) -> None:
    interrupted(tmp_path)
    with pytest.raises(TypeError, match="resume\\(\\) takes no argument 'window'"):
        TFWord2Vec.resume(tmp_path, SENTENCES, window=3)


def test_a_damaged_checkpoint_is_refused_and_the_one_before_is_used_if_asked(
    uninterrupted: Callable[[str], TFWord2Vec], tmp_path: Path
) -> None:
    interrupted(tmp_path)
    before, newest = CheckpointFolder(tmp_path).checkpoints()[-2:]
    damaged = newest / "inputs.array"
    content = bytearray(damaged.read_bytes())
    content[40] ^= 1
    damaged.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"inputs\.array(.|\n)*" + before.name):
        TFWord2Vec.resume(tmp_path, SENTENCES)
    assert_equal_models(uninterrupted("skipgram-negative"), TFWord2Vec.resume(before, SENTENCES))


def test_there_is_nothing_to_resume(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no checkpoint"):
        TFWord2Vec.resume(tmp_path, SENTENCES)
    with pytest.raises(ValueError, match="needs a checkpoint_dir"):
        train(untrained("skipgram-negative"), resume=True)


def test_a_full_disk_does_not_end_training(
    uninterrupted: Callable[[str], TFWord2Vec],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def write(*_: Any) -> Checkpoint:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(CheckpointFolder, "write", write)
    with caplog.at_level(logging.WARNING):
        model = train(untrained("skipgram-negative", checkpoint_dir=tmp_path))
    assert_equal_models(uninterrupted("skipgram-negative"), model)
    assert "No space left on device" in caplog.text


def test_the_report_says_how_many_checkpoints_were_written(tmp_path: Path) -> None:
    model = train(untrained("skipgram-negative", checkpoint_dir=tmp_path))
    assert model.training_report is not None
    report = model.training_report["checkpoints"]
    assert report["written"] >= 2
    assert report["seconds_paused"] > 0
    assert json.dumps(report)


def test_epochs_shorter_than_the_interval_have_checkpoints_with_callbacks_too(tmp_path: Path) -> None:
    every = f"{WORDS + 1} words"
    model = untrained("skipgram-negative", checkpoint_dir=tmp_path, checkpoint_every=every)
    train(model, callbacks=[Heard()])
    assert model.training_report is not None
    assert model.training_report["checkpoints"]["written"] >= 3  # in the second and the third epoch, and at the end


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), "5e6", "many words", "0 words", None])
def test_wrong_intervals_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="checkpoint_every must be"):
        TFWord2Vec(checkpoint_every=value)
