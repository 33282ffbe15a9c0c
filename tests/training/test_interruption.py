"""Ctrl-C and errors in the midst of training: what has been learnt so far is kept."""

from __future__ import annotations

import _thread
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models.callbacks import CallbackAny2Vec
from support.contract import SENTENCES, assert_equal_models, assert_finite
from support.interrupts import heed_interrupts

from gensim_tfw2v.blocks.batches import BatchShape, BlockMaker, Windows
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.blocks.sampling import NegativeSampler
from gensim_tfw2v.corpus.iterable_source import IterableSource
from gensim_tfw2v.corpus.sources import CacheBudget, Reading
from gensim_tfw2v.placement.local.placement import LocalPlacement
from gensim_tfw2v.steps.settings import StepSettings
from gensim_tfw2v.training.epoch import EpochPlan
from gensim_tfw2v.training.epochs import train_epochs

ARGUMENTS: dict[str, Any] = {"vector_size": 8, "min_count": 1, "workers": 2, "sample": 0}

# Trains for far longer than anybody waits, logs the end of each epoch, and saves when interrupted.
LONG_TRAINING = """
import logging
import sys

import numpy as np
from gensim_tfw2v import TFWord2Vec

corpus = {corpus}
model = TFWord2Vec(vector_size=32, workers=2)
model.build_vocab(**corpus)
np.save("initial.npy", model.wv.vectors)
totals = dict(total_examples=model.corpus_count, total_words=model.corpus_total_words)
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
try:
    model.train(**corpus, epochs=100_000, **totals)
except KeyboardInterrupt:
    model.save("interrupted")
    print("saved", flush=True)
"""


class InterruptAtEpochEnd(CallbackAny2Vec):
    """Raise KeyboardInterrupt at the end of the second epoch."""

    def __init__(self) -> None:
        self.epochs = 0

    def on_epoch_end(self, model: Any) -> None:
        self.epochs += 1
        if self.epochs == 2:
            raise KeyboardInterrupt


def test_an_interrupt_in_a_callback_keeps_what_was_learnt(
    word2vec_class: type[Any], mode: dict[str, int], scratch: Path
) -> None:
    model = word2vec_class(**ARGUMENTS, **mode)
    model.build_vocab(SENTENCES)
    before = model.wv.vectors.copy()
    with pytest.raises(KeyboardInterrupt):
        model.train(SENTENCES, total_examples=150, epochs=5, callbacks=[InterruptAtEpochEnd()])
    assert_finite(model)
    assert not np.array_equal(model.wv.vectors, before)
    model.save("interrupted")
    assert_equal_models(word2vec_class.load("interrupted"), model)


def test_an_interrupt_between_two_epochs_keeps_what_was_learnt(word2vec_class: type[Any]) -> None:
    """It strikes where the end of the second epoch is logged: outside any step, with no callback about."""

    class Interrupt(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.getMessage().startswith("EPOCH 1: training on"):
                raise KeyboardInterrupt

    model = word2vec_class(**ARGUMENTS)
    model.build_vocab(SENTENCES)
    before = model.wv.vectors.copy()
    loggers = [logging.getLogger(name) for name in ("gensim", "gensim_tfw2v")]
    handler, levels = Interrupt(), [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    try:
        with pytest.raises(KeyboardInterrupt):
            model.train(SENTENCES, total_examples=150, epochs=5)
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)
    assert_finite(model)
    assert not np.array_equal(model.wv.vectors, before)


def test_a_corpus_that_fails_on_a_later_pass_raises_its_own_error_and_keeps_what_was_learnt(
    tfword2vec_class: type[Any],
) -> None:
    """gensim hangs here: the thread that reads the corpus dies."""

    class Failing:
        passes = 0

        def __iter__(self) -> Iterator[list[str]]:
            self.passes += 1
            yield from SENTENCES
            if self.passes == 3:
                raise OSError("the share went away")

    corpus = Failing()
    model = tfword2vec_class(cache_memory=0, **ARGUMENTS)
    model.build_vocab(corpus)
    before = model.wv.vectors.copy()
    with pytest.raises(OSError, match="the share went away"):
        model.train(corpus, total_examples=150, epochs=3)
    assert_finite(model)
    assert not np.array_equal(model.wv.vectors, before)


def test_training_goes_on_after_an_interrupt(word2vec_class: type[Any]) -> None:
    model = word2vec_class(**ARGUMENTS)
    model.build_vocab(SENTENCES)
    with pytest.raises(KeyboardInterrupt):
        model.train(SENTENCES, total_examples=150, epochs=5, callbacks=[InterruptAtEpochEnd()])
    interrupted = model.wv.vectors.copy()
    assert model.train(SENTENCES, total_examples=150, epochs=2)[1] == 1200
    assert not np.array_equal(model.wv.vectors, interrupted)


def test_an_interrupt_while_workers_start_waits_for_those_that_run(heeded_interrupts: None) -> None:
    """What they train may not be taken from under them."""
    finished = threading.Event()

    class Interrupting(LocalPlacement):
        def train_chunk(self, task: ChunkTask) -> TrainedChunk:
            _thread.interrupt_main()
            time.sleep(0.5)
            finished.set()
            return super().train_chunk(task)

    cumulative = np.array([2**30, 2**31 - 1], np.uint32)
    maker = BlockMaker(True, 2, Windows.DRAWN, BatchShape(16, 4, 4), None, NegativeSampler(cumulative), None)
    placement = Interrupting(StepSettings(True, True, 2, 4, 3, 4, False, True, 1.0), maker)
    placement.concurrency = 100  # so that most are still to be started when the interrupt comes
    plan = EpochPlan(0, 1, (1,), lambda fraction: 0.025, None, 100, exact_loss=False)
    corpus = IterableSource(["a"], Reading({"a": 0}, 10, CacheBudget(0, 0)))
    with pytest.raises(KeyboardInterrupt):
        list(train_epochs([plan], corpus, placement, []))
    assert finished.is_set()


class Waiting:
    """A corpus that interrupts the main thread in the midst of a pass, and then waits until it is let go."""

    def __init__(self, presses: int) -> None:
        self.presses = presses
        self.was_waited_for = False
        self.pressed, self.let_go = threading.Event(), threading.Event()

    def __iter__(self) -> Iterator[list[str]]:
        yield from SENTENCES
        for _ in range(self.presses):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            self.let_go.wait(0.3)  # so that the main thread sees each
        self.pressed.set()
        self.was_waited_for = not self.let_go.wait(20)


@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_does_not_wait_for_the_corpus(
    tfword2vec_class: type[Any], heeded_interrupts: None, presses: int
) -> None:
    model = tfword2vec_class(**ARGUMENTS)
    model.build_vocab(SENTENCES)
    corpus = Waiting(presses)
    with pytest.raises(KeyboardInterrupt):
        try:
            model.train(corpus, total_examples=150, epochs=1)
        finally:
            corpus.pressed.wait(20)  # the last may come after the first has ended the training
    assert not corpus.was_waited_for
    assert_finite(model)
    corpus.let_go.set()
    assert model.train(SENTENCES, total_examples=150, epochs=2)[1] == 1200


def test_an_interrupted_corpus_ends_at_its_next_sentence_in_its_own_thread(
    tfword2vec_class: type[Any], heeded_interrupts: None
) -> None:
    class Endless:
        def __init__(self) -> None:
            self.threads: list[int] = []
            self.closed = threading.Event()

        def __iter__(self) -> Iterator[list[str]]:
            self.threads.append(threading.get_ident())
            try:
                _thread.interrupt_main()
                while True:
                    time.sleep(0.01)
                    yield ["human"]
            finally:
                self.threads.append(threading.get_ident())
                self.closed.set()

    model = tfword2vec_class(**ARGUMENTS)
    model.build_vocab(SENTENCES)
    corpus = Endless()
    with pytest.raises(KeyboardInterrupt):
        model.train(corpus, total_examples=150, epochs=1)
    assert corpus.closed.wait(20)
    assert corpus.threads[0] == corpus.threads[1] != threading.get_ident()


@pytest.mark.parametrize(
    "corpus", [pytest.param("dict(corpus_iterable=LINES)", marks=pytest.mark.slow), "dict(corpus_file='corpus.txt')"]
)
def test_ctrl_c_in_the_midst_of_training_keeps_what_was_learnt(
    tfword2vec_class: type[Any], scratch: Path, lee_file: Path, corpus: str
) -> None:
    (scratch / "corpus.txt").write_bytes(lee_file.read_bytes() * 5)
    iterable = "[line.split() for line in open('corpus.txt', encoding='utf-8')]"
    script = LONG_TRAINING.format(corpus=corpus.replace("LINES", iterable))
    paths = os.pathsep.join(path for path in [str(Path(__file__).parents[2]), *sys.path] if path)
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=scratch,
        env=os.environ | {"PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    )
    try:
        assert process.stdout is not None
        trained = any(line.startswith("EPOCH 1: training on") for line in process.stdout)
        assert trained, process.communicate(timeout=60)[1]
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert output.endswith("saved\n"), errors
    assert process.returncode == 0, errors
    model = tfword2vec_class.load("interrupted")
    assert_finite(model)
    assert not np.array_equal(model.wv.vectors, np.load("initial.npy"))
