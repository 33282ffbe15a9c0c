"""The training loop with a model that is not gensim's: all that it needs is the interface."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.no_sentences import NO_SENTENCES

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.batches import BatchShape, BlockMaker, Windows
from gensim_tfw2v.blocks.chunk_task import NOTHING_TRAINED, ChunkTask, TrainedChunk
from gensim_tfw2v.checkpoints.folder import Checkpoint, CheckpointFolder
from gensim_tfw2v.corpus.chunks import Chunk
from gensim_tfw2v.corpus.sources import Source
from gensim_tfw2v.placement.contract import ModelTables, Placement
from gensim_tfw2v.placement.request import PlacementChoice
from gensim_tfw2v.steps.settings import StepSettings
from gensim_tfw2v.training.choices import TrainingChoices
from gensim_tfw2v.training.epoch import EpochPlan
from gensim_tfw2v.training.loop import TrainingCall, TrainingLoop
from gensim_tfw2v.training.needed_rows import ReadRows
from gensim_tfw2v.training.plan import TrainingPlan
from gensim_tfw2v.training.progress import EpochCounts
from gensim_tfw2v.training.resuming import Beginning
from gensim_tfw2v.training.state import state_in
from gensim_tfw2v.training.validation import NO_VALIDATION, Validation, ValidationState, best_tables_in
from gensim_tfw2v.training.validation_loss import ValidationLoss

CHUNKS, EPOCHS, WORDS = 4, 3, 5


class Table:
    """A model of one table."""

    epochs, trainings, measures_every_loss = EPOCHS, 0, False
    max_recoveries, recovery_timeout, training_seconds = 0, 1.0, 0.0
    has_tables, has_initial_tables = True, False

    def __init__(self) -> None:
        self.words: list[Any] = list("abcde")
        self.inputs = np.zeros((WORDS, 2), np.float32)
        self.lock_factors: Float32Array = np.ones(1, np.float32)
        self.finished: list[int] = []
        self.report: dict[str, Any] | None = None
        self.validation_losses: list[float] = []

    @property
    def for_callbacks(self) -> object:
        return self

    def learning_rate(self, epoch: int, fraction: float) -> float:
        return 0.1

    def fixed_settings(self) -> Mapping[str, Any]:
        return {}

    def check_fits(self) -> None:
        """Find nothing."""

    def check_rows(self, words: int) -> None:
        """Find nothing."""

    def tables(self) -> ModelTables:
        return ModelTables(self.inputs, None, None, self.lock_factors)

    def use_new_tables(self) -> None:
        """Forget nothing."""

    def attributes(self) -> dict[str, Any]:
        return {"model": {"epochs": self.epochs}}

    def vocabulary_arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        return {}

    def read_tables(self, checkpoint: Checkpoint) -> None:
        checkpoint.read_into("inputs", self.inputs)

    def set_finished(self, epochs: Sequence[EpochCounts], seconds_before: float) -> None:
        self.finished = [counts.examples for counts in epochs]

    def add_finished(self, plan: EpochPlan, counts: EpochCounts, from_file: bool) -> None:
        self.finished.append(counts.examples)

    def set_validation(self, values: Mapping[str, Sequence[float]]) -> None:
        self.validation_losses = list(values.get("loss", ()))

    def end_after(self, epochs: int) -> None:
        self.epochs = epochs

    def set_report(self, report: dict[str, Any] | None) -> None:
        self.report = report


class Adding(Placement):
    """Adds 1 to every number with every chunk, and fails after some chunks."""

    concurrency, can_fail, has_failed = 1, False, False

    def __init__(self, most_chunks: int) -> None:
        self._inputs = np.zeros((0, 0), np.float32)
        self._chunks_left = most_chunks

    def load(self, tables: ModelTables) -> None:
        self._inputs = tables.inputs.copy()

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        if not self._chunks_left:
            raise RuntimeError("no chunk more")
        self._chunks_left -= 1
        self._inputs += 1
        return NOTHING_TRAINED

    def read_into(self, tables: ModelTables) -> None:
        np.copyto(tables.inputs, self._inputs)

    def rows(self, table: str, first: int, end: int) -> Float32Array:
        return self._inputs[first:end].copy()

    def task_metrics(self) -> Mapping[str, Mapping[str, float]]:
        return {}

    def report(self, raw_words: int) -> dict[str, Any] | None:
        return None

    def close(self) -> None:
        """Free nothing."""


class Chunks(Source):
    """A corpus of empty chunks."""

    def epoch(self, number: int = 0) -> Generator[Chunk, None, None]:
        yield from (Chunk(number, NO_SENTENCES, 1, 1) for number in range(CHUNKS))

    def close(self) -> None:
        """Free nothing."""


class Recording:
    """A callback that keeps the first number of the model's table."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, float]] = []

    def on_epoch_begin(self, model: Table) -> None:
        self.calls.append(("begin", float(model.inputs[0, 0])))

    def on_epoch_end(self, model: Table) -> None:
        self.calls.append(("end", float(model.inputs[0, 0])))


class Planned(ValidationLoss):
    """Returns a loss that was chosen for the number of epochs that the table has been trained."""

    def __init__(self, losses: Sequence[float]) -> None:
        self._planned = losses

    def __len__(self) -> int:
        return 1

    def mean_loss(self, read: ReadRows) -> float:
        epochs = float(read("inputs", 0, WORDS)[0, 0]) / CHUNKS
        assert epochs % 1 == 0
        return self._planned[int(epochs) - 1]


def validation_with(losses: Sequence[float], patience: int | None, checkpoint: Checkpoint | None = None) -> Validation:
    """Return a validation with these losses after the epochs."""
    before = None if checkpoint is None else state_in(checkpoint).validation
    state = before or ValidationState(
        share=None, path=None, checksum=0, sentences=1, words=1, patience=patience, min_delta=0.0
    )
    return Validation(Planned(losses), state, checkpoint)


def loop_for(
    model: Table,
    callbacks: Sequence[Any] = (),
    beginning: Beginning | None = None,
    most_chunks: int = 99,
    validation: Validation = NO_VALIDATION,
) -> TrainingLoop:
    """Return a loop that adds the number of chunks to the model's table, each epoch."""
    shape, settings = BatchShape(1, 1, 1), StepSettings(True, True, 1, 1, 1, 1, False, False, max_step=1.0)
    choices = TrainingChoices(
        total_examples=CHUNKS,
        total_words=CHUNKS,
        fall=1.0,
        entropy=(1,),
        alpha=0.1,
        min_alpha=0.1,
        block_words=1,
        negative_pool=None,
        shape=shape,
        windows=Windows.DRAWN,
        settings=settings,
    )
    choice = PlacementChoice(1, None, lambda *_: Adding(most_chunks))
    maker = BlockMaker(True, 1, Windows.DRAWN, shape, None, None, None)
    call = TrainingCall(
        callbacks=callbacks,
        start_log=None,
        draws_bar=False,
        report_delay=1.0,
        from_file=False,
        checkpoint_every="1 words",
        connect=lambda: choice,
        beginning=beginning or Beginning(),
        validation=validation,
    )
    return TrainingLoop(model, TrainingPlan(model, choice, choices, maker), Chunks(), call)


def test_a_loop_trains_every_chunk_and_gives_the_model_its_tables() -> None:
    model = Table()
    assert [counts.examples for counts in loop_for(model).run()] == [CHUNKS] * EPOCHS
    np.testing.assert_array_equal(model.inputs, np.full((WORDS, 2), CHUNKS * EPOCHS))
    assert model.finished == [CHUNKS] * EPOCHS


def test_callbacks_get_the_model_with_its_tables_after_each_epoch() -> None:
    model, recording = Table(), Recording()
    loop_for(model, [recording]).run()
    of_epochs = [[("begin", epoch * CHUNKS), ("end", (epoch + 1) * CHUNKS)] for epoch in range(EPOCHS)]
    assert recording.calls == [call for calls in of_epochs for call in calls]


@pytest.mark.parametrize("most_chunks", [1, CHUNKS, 2 * CHUNKS + 1])
def test_a_loop_that_fails_is_resumed_from_its_checkpoint(tmp_path: Path, most_chunks: int) -> None:
    folder = CheckpointFolder(tmp_path)
    folder.prepare()
    with pytest.raises(RuntimeError, match="no chunk more"):
        loop_for(Table(), beginning=Beginning(folder), most_chunks=most_chunks).run()
    newest = folder.newest()
    assert newest is not None
    state, model = state_in(newest), Table()
    assert state.raw_words() == most_chunks
    model.read_tables(newest)
    np.testing.assert_array_equal(model.inputs, np.full((WORDS, 2), most_chunks))
    loop_for(model, beginning=Beginning(folder, state, newest)).run()
    np.testing.assert_array_equal(model.inputs, np.full((WORDS, 2), CHUNKS * EPOCHS))
    assert model.report is not None
    assert state_in(folder.newest() or newest).is_finished(EPOCHS)


LOSSES = [5.0, 4.0, 3.0, 3.5, 3.1, 1.0, 2.0]


def validated(epochs: int) -> Table:
    """Return a model that is to be trained for so many epochs."""
    model = Table()
    model.epochs = epochs
    return model


@pytest.mark.parametrize(
    ("patience", "trained", "best"), [(None, 7, 7), (1, 4, 3), (2, 5, 3), (3, 7, 6), (7, 7, 6)], ids=str
)
def test_early_stopping_leaves_the_tables_of_the_best_epoch(patience: int | None, trained: int, best: int) -> None:
    model, recording = validated(7), Recording()
    counts = loop_for(model, [recording], validation=validation_with(LOSSES, patience)).run()
    assert len(counts) == len(model.validation_losses) == model.epochs == trained
    assert model.validation_losses == LOSSES[:trained]
    np.testing.assert_array_equal(model.inputs, np.full((WORDS, 2), best * CHUNKS))
    assert [number for name, number in recording.calls if name == "end"] == [
        (epoch + 1) * CHUNKS for epoch in range(trained)
    ]
    assert model.report is not None
    assert model.report["validation"]["ended_early"] is (patience in (1, 2))


@pytest.mark.parametrize("most_chunks", [1, CHUNKS, 2 * CHUNKS, 3 * CHUNKS, 3 * CHUNKS + 1, 4 * CHUNKS + 2])
def test_a_validated_training_is_resumed_with_its_losses_and_its_best_tables(tmp_path: Path, most_chunks: int) -> None:
    folder = CheckpointFolder(tmp_path)
    folder.prepare()
    failing = validation_with(LOSSES, 2)
    with pytest.raises(RuntimeError, match="no chunk more"):
        loop_for(validated(7), beginning=Beginning(folder), most_chunks=most_chunks, validation=failing).run()
    newest = folder.newest()
    assert newest is not None
    model = validated(7)
    model.read_tables(newest)
    resumed = validation_with(LOSSES, 2, newest)
    loop_for(model, beginning=Beginning(folder, state_in(newest), newest), validation=resumed).run()
    assert model.validation_losses == LOSSES[:5]
    np.testing.assert_array_equal(model.inputs, np.full((WORDS, 2), 3 * CHUNKS))
    last = folder.newest()
    assert last is not None
    assert state_in(last).is_finished(last.content["model"]["epochs"])
    np.testing.assert_array_equal(last.array("inputs"), np.full((WORDS, 2), 5 * CHUNKS))
    np.testing.assert_array_equal(best_tables_in(last)["inputs"], model.inputs)


def test_a_loss_that_was_not_measured_before_an_interrupt_is_measured_when_training_resumes(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path)
    folder.prepare()
    with pytest.raises(IndexError):
        loop_for(validated(7), beginning=Beginning(folder), validation=validation_with(LOSSES[:2], 2)).run()
    newest = folder.newest()
    assert newest is not None
    assert state_in(newest).is_finished(3)
    model = validated(7)
    model.read_tables(newest)
    resumed = validation_with(LOSSES, 2, newest)
    loop_for(model, beginning=Beginning(folder, state_in(newest), newest), validation=resumed).run()
    assert model.validation_losses == LOSSES[:5]
    np.testing.assert_array_equal(model.inputs, np.full((WORDS, 2), 3 * CHUNKS))


def test_without_early_stopping_nothing_is_copied(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path)
    folder.prepare()
    loop_for(validated(3), beginning=Beginning(folder), validation=validation_with(LOSSES, None)).run()
    newest = folder.newest()
    assert newest is not None
    assert not best_tables_in(newest)
