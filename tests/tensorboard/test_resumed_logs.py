"""What TensorBoard shows of a training that was cut off and resumed: one run, with points in order and there once."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from support.event_files import events_of, progress_with_tasks, values_of, writer_for
from support.resumed_training import EPOCHS, SENTENCES, Interrupted, train, untrained
from support.stopping import StopError, stop
from tensorboard.backend.event_processing.plugin_event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import metadata

from gensim_tfw2v import TensorBoardLog, TFWord2Vec
from gensim_tfw2v.checkpoints.folder import CheckpointFolder
from gensim_tfw2v.model.checkpointing import Checkpointer
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.tensorboard.event_files import RunFiles
from gensim_tfw2v.training.state import state_in


def steps_of(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Return step and time of all points, by tag, as TensorBoard's pages have them; fail if its readers differ."""
    events = EventAccumulator(str(folder), tensor_size_guidance={"scalars": 0}, size_guidance={"tensors": 0})
    events.Reload()
    scalars = events_of(folder)
    found = {tag: [(point.step, point.wall_time) for point in events.Tensors(tag)] for tag in events.Tags()["tensors"]}
    for tag in scalars.Tags()["scalars"]:
        assert [(point.step, point.wall_time) for point in scalars.Scalars(tag)] == found[tag], tag
    return found


@pytest.mark.parametrize("is_killed", [True, False])
def test_a_resumed_training_is_one_run_without_points_that_were_trained_again(
    is_killed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = TensorBoardLog(tmp_path / "log", every_seconds=0, analogies=())
    model = untrained("skipgram-negative", checkpoint_dir=tmp_path / "checkpoints", cache_memory=0, logdir=log)
    if is_killed:  # as far as files show it
        monkeypatch.setattr(Checkpointer, "finish", Checkpointer.end)
    with pytest.raises(StopError):
        train(model, Interrupted(11000, stop))
    monkeypatch.undo()
    newest = CheckpointFolder(tmp_path / "checkpoints").newest()
    assert newest is not None
    resumed_at, began = state_in(newest).trained_words(), time.time()
    later = [step for step, _ in steps_of(log.logdir)["learning_rate"] if step > resumed_at]
    assert is_killed or not later  # after a kill there usually are some
    assert metadata.SESSION_END_INFO_TAG not in events_of(log.logdir).summary_metadata

    resumed = TFWord2Vec.resume(tmp_path / "checkpoints", SENTENCES, logdir=log)
    assert [file.name for file in log.logdir.iterdir() if file.is_dir() and file.name.startswith("run-")] == []
    points = steps_of(log.logdir)
    assert not [point for of_tag in points.values() for point in of_tag if point[0] > resumed_at and point[1] < began]
    for tag, of_tag in points.items():
        assert all(first <= second for (first, _), (second, _) in pairwise(of_tag)), tag
    assert values_of(log.logdir, "loss/epoch") == pytest.approx(resumed.epoch_losses)
    assert len(points["neighbours"]) == 1 + EPOCHS
    content = events_of(log.logdir).summary_metadata[metadata.SESSION_END_INFO_TAG].plugin_data.content
    assert metadata.parse_session_end_info_plugin_data(content).status == 1  # STATUS_SUCCESS


def test_a_training_that_goes_back_to_its_beginning_forgets_all_points(tmp_path: Path) -> None:
    tables = ModelTables(np.ones((11, 8), np.float32), None, None, np.ones(1, np.float32))
    with writer_for(tmp_path, tables) as writer:
        writer.continue_from([])
        for words in (100, 200):
            writer.advance(progress_with_tasks(words))
        writer.end_epoch(progress_with_tasks(300))
        writer.continue_from([])
        writer.advance(progress_with_tasks(50))
        writer.end_epoch(progress_with_tasks(310))
    points = steps_of(tmp_path)
    assert [step for step, _ in points["learning_rate"]] == [50, 310]
    assert [step for step, _ in points["norms/input_vectors"]] == [0, 310]
    assert [step for step, _ in steps_of(tmp_path / "tasks" / "ps-0")["tasks/cpu_percent"]] == [50, 310]


def test_tasks_that_a_resumed_training_does_not_have_forget_their_points_as_well(tmp_path: Path) -> None:
    first = RunFiles(tmp_path, tmp_path)
    for step in (5, 10):
        first.scalars(step, {"tasks/blocks": step}, "ps/1")
    first.close()
    second = RunFiles(tmp_path, tmp_path)
    second.purge(6)
    second.close()
    assert values_of(tmp_path / "tasks" / "ps-1", "tasks/blocks") == [5]
