"""Callbacks and progress of every design: once an epoch, with a current model."""

from __future__ import annotations

import functools
import itertools
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from support.contract import assert_equal_models
from support.design_promises import DesignPromises
from support.design_trainings import WORDS, train, undisturbed, untrained
from support.designs import REGISTRY, every_design
from support.epoch_vectors import EpochVectors

from gensim_tfw2v import TFWord2Vec


class Watching(EpochVectors):
    """Keeps the vectors of each epoch's end, and which callbacks were called, with how many losses the model had."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, int]] = []

    def on_epoch_begin(self, model: Any) -> None:
        self.calls.append(("begin", len(model.epoch_losses)))

    def on_epoch_end(self, model: Any) -> None:
        super().on_epoch_end(model)
        self.calls.append(("end", len(model.epoch_losses)))


class LogLines(logging.Handler):
    """Keeps the lines of a log."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@contextmanager
def gensims_log() -> Iterator[list[str]]:
    """Yield the lines that are written to the log of gensim's class in the block."""
    logger, handler = logging.getLogger("gensim.models.word2vec"), LogLines()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield handler.lines
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


@dataclass(frozen=True)
class Watched:
    """A training that was watched."""

    model: TFWord2Vec
    before: np.ndarray  # its vectors before training
    callbacks: Watching = field(default_factory=Watching)
    lines: list[str] = field(default_factory=list)


@functools.cache
def watched(name: str) -> Watched:
    """Return a training of the design of this name, which the tests below share."""
    design = REGISTRY[name]
    model = untrained(design)
    found = Watched(model, model.wv.vectors.copy())
    with gensims_log() as lines:
        train(design, model, callbacks=[found.callbacks])
    found.lines.extend(lines)
    return found


@every_design("callbacks")
def test_callbacks_are_called_once_an_epoch(design: DesignPromises) -> None:
    found = watched(design.name)
    epochs = range(found.model.epochs)
    assert found.callbacks.calls == [call for epoch in epochs for call in (("begin", epoch), ("end", epoch + 1))]


@every_design("callbacks")
def test_progress_of_all_words_is_logged_once_an_epoch(design: DesignPromises) -> None:
    found = watched(design.name)
    ends = [line for line in found.lines if ": training on " in line]
    assert len(ends) == found.model.epochs
    for epoch, line in enumerate(ends):
        assert line.startswith(f"EPOCH {epoch}: training on {WORDS} raw words")


@every_design("callbacks")
def test_callbacks_see_a_current_model(design: DesignPromises) -> None:
    found = watched(design.name)
    seen = found.callbacks.vectors
    np.testing.assert_array_equal(seen[-1], found.model.wv.vectors)
    assert not np.array_equal(seen[0], seen[-1])
    if design.moves_in_every_epoch:
        assert not any(np.array_equal(*pair) for pair in itertools.pairwise([found.before, *seen]))


@every_design("callbacks")
def test_a_look_at_the_model_between_epochs_changes_nothing(design: DesignPromises) -> None:
    assert_equal_models(watched(design.name).model, undisturbed(design.name))
