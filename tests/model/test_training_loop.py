"""The training loop with a model of one table, which every chunk adds 1 to."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.no_sentences import NO_SENTENCES

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.batches import BatchShape, BlockMaker, Windows
from gensim_tfw2v.blocks.chunk_task import NOTHING_TRAINED, ChunkTask, TrainedChunk
from gensim_tfw2v.checkpoints.folder import Checkpoint, CheckpointFolder
from gensim_tfw2v.corpus.chunks import Chunk
from gensim_tfw2v.corpus.sources import Source
from gensim_tfw2v.model.checkpoint_content import read_tables
from gensim_tfw2v.model.corpus_reading import Corpus
from gensim_tfw2v.model.loop import TrainingLoop
from gensim_tfw2v.model.training_plan import TrainArguments, TrainingPlan
from gensim_tfw2v.placement.contract import ModelTables, Placement
from gensim_tfw2v.placement.request import PlacementChoice
from gensim_tfw2v.steps.settings import StepSettings
from gensim_tfw2v.training.measures import ReadRows, ValidationLoss
from gensim_tfw2v.training.state import Beginning, TrainingChoices, ValidationState, state_in
from gensim_tfw2v.training.validation import Validation, best_tables_in

CHUNKS, EPOCHS, WORDS = 4, 3, 5


def untrained(epochs: int = EPOCHS) -> TFWord2Vec:
    """Return a model of one table of zeros, which is to be trained for so many epochs."""
    settings: dict[str, Any] = {"vector_size": 2, "min_count": 1, "negative": 0, "optimizer": "sgd"}
    model = TFWord2Vec(**settings, epochs=epochs, progress=False, checkpoint_every="1 words")
    model.build_vocab_from_freq(dict.fromkeys("abcde", 1))
    model.wv.vectors[:] = 0
    return model


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

    def on_epoch_begin(self, model: TFWord2Vec) -> None:
        self.calls.append(("begin", float(model.wv.vectors[0, 0])))

    def on_epoch_end(self, model: TFWord2Vec) -> None:
        self.calls.append(("end", float(model.wv.vectors[0, 0])))


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
    model: TFWord2Vec,
    callbacks: Sequence[Any] = (),
    beginning: Beginning | None = None,
    most_chunks: int = 99,
    validation: Validation | None = None,
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
    plan = TrainingPlan(
        model=model,
        arguments=TrainArguments(corpus=Corpus([], None), callbacks=callbacks),
        beginning=beginning or Beginning(),
        connect=lambda: choice,
        choice=choice,
        choices=choices,
        maker=BlockMaker(True, 1, Windows.DRAWN, shape, None, None, None),
        source=Chunks(),
        validation=validation or Validation(),
    )
    return TrainingLoop(plan)


def test_a_loop_trains_every_chunk_and_gives_the_model_its_tables() -> None:
    model = untrained()
    assert [counts.examples for counts in loop_for(model).run()] == [CHUNKS] * EPOCHS
    np.testing.assert_array_equal(model.wv.vectors, np.full((WORDS, 2), CHUNKS * EPOCHS))
    assert len(model.epoch_losses) == EPOCHS


def test_callbacks_get_the_model_with_its_tables_after_each_epoch() -> None:
    model, recording = untrained(), Recording()
    loop_for(model, [recording]).run()
    of_epochs = [[("begin", epoch * CHUNKS), ("end", (epoch + 1) * CHUNKS)] for epoch in range(EPOCHS)]
    assert recording.calls == [call for calls in of_epochs for call in calls]


def resumed_and_ended(folder: CheckpointFolder, newest: Checkpoint) -> TFWord2Vec:
    """Resume a validated training; check that early stopping ends it with the best epoch's vectors, and return them."""
    model = untrained(7)
    read_tables(model, newest)
    resumed = validation_with(LOSSES, 2, newest)
    loop_for(model, beginning=Beginning(folder, state_in(newest), newest), validation=resumed).run()
    assert model.validation_losses == LOSSES[:5]
    np.testing.assert_array_equal(model.wv.vectors, np.full((WORDS, 2), 3 * CHUNKS))
    return model


@pytest.mark.parametrize("most_chunks", [1, CHUNKS, 2 * CHUNKS + 1])
def test_a_loop_that_fails_is_resumed_from_its_checkpoint(tmp_path: Path, most_chunks: int) -> None:
    folder = CheckpointFolder(tmp_path)
    folder.prepare()
    with pytest.raises(RuntimeError, match="no chunk more"):
        loop_for(untrained(), beginning=Beginning(folder), most_chunks=most_chunks).run()
    newest = folder.newest()
    assert newest is not None
    state, model = state_in(newest), untrained()
    assert state.raw_words() == most_chunks
    read_tables(model, newest)
    np.testing.assert_array_equal(model.wv.vectors, np.full((WORDS, 2), most_chunks))
    loop_for(model, beginning=Beginning(folder, state, newest)).run()
    np.testing.assert_array_equal(model.wv.vectors, np.full((WORDS, 2), CHUNKS * EPOCHS))
    assert model.training_report is not None
    assert state_in(folder.newest() or newest).is_finished(EPOCHS)


LOSSES = [5.0, 4.0, 3.0, 3.5, 3.1, 1.0, 2.0]


@pytest.mark.parametrize(
    ("patience", "trained", "best"), [(None, 7, 7), (1, 4, 3), (2, 5, 3), (3, 7, 6), (7, 7, 6)], ids=str
)
def test_early_stopping_leaves_the_tables_of_the_best_epoch(patience: int | None, trained: int, best: int) -> None:
    model, recording = untrained(7), Recording()
    counts = loop_for(model, [recording], validation=validation_with(LOSSES, patience)).run()
    assert len(counts) == len(model.validation_losses) == model.epochs == trained
    assert model.validation_losses == LOSSES[:trained]
    np.testing.assert_array_equal(model.wv.vectors, np.full((WORDS, 2), best * CHUNKS))
    assert [number for name, number in recording.calls if name == "end"] == [
        (epoch + 1) * CHUNKS for epoch in range(trained)
    ]
    assert model.training_report is not None
    assert model.training_report["validation"]["ended_early"] is (patience in (1, 2))


@pytest.mark.parametrize("most_chunks", [1, CHUNKS, 2 * CHUNKS, 3 * CHUNKS, 3 * CHUNKS + 1, 4 * CHUNKS + 2])
def test_a_validated_training_is_resumed_with_its_losses_and_its_best_tables(tmp_path: Path, most_chunks: int) -> None:
    folder = CheckpointFolder(tmp_path)
    folder.prepare()
    failing = validation_with(LOSSES, 2)
    with pytest.raises(RuntimeError, match="no chunk more"):
        loop_for(untrained(7), beginning=Beginning(folder), most_chunks=most_chunks, validation=failing).run()
    newest = folder.newest()
    assert newest is not None
    model = resumed_and_ended(folder, newest)
    last = folder.newest()
    assert last is not None
    assert state_in(last).is_finished(last.content["model"]["epochs"])
    np.testing.assert_array_equal(last.array("inputs"), np.full((WORDS, 2), 5 * CHUNKS))
    np.testing.assert_array_equal(best_tables_in(last)["inputs"], model.wv.vectors)


def test_a_loss_that_was_not_measured_before_an_interrupt_is_measured_when_training_resumes(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path)
    folder.prepare()
    with pytest.raises(IndexError):
        loop_for(untrained(7), beginning=Beginning(folder), validation=validation_with(LOSSES[:2], 2)).run()
    newest = folder.newest()
    assert newest is not None
    assert state_in(newest).is_finished(3)
    resumed_and_ended(folder, newest)


def test_without_early_stopping_nothing_is_copied(tmp_path: Path) -> None:
    folder = CheckpointFolder(tmp_path)
    folder.prepare()
    loop_for(untrained(3), beginning=Beginning(folder), validation=validation_with(LOSSES, None)).run()
    newest = folder.newest()
    assert newest is not None
    assert not best_tables_in(newest)
