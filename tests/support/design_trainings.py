"""Trainings of the designs in the table: undisturbed ones, and what disturbs the others."""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

from gensim_tfw2v import TFDoc2Vec, TFWord2Vec, tuning
from gensim_tfw2v.steps.kernel import plain_kernel
from support.contract import SMALL, two_topics
from support.design_promises import DesignPromises
from support.designs import REGISTRY
from support.documents import Tagged
from support.placements import leases_on, shared_cluster
from support.trained_mode import MODE, mode_of_documents

SENTENCES = two_topics(1000)
WORDS = 12 * len(SENTENCES)
_TRAINING: dict[str, Any] = {
    **SMALL,
    **{"alpha": 0.05, "seed": 3, "epochs": 2, "workers": 1, "compute_dtype": "float32"},
    **{"cache_memory": 0, "progress": False},  # the corpus is read in every epoch
}
_SENTENCES_READ_AT_ONCE = 50  # few, so that a corpus can disturb a training within an epoch


def place_of(design: DesignPromises) -> Any:
    """Return where the design trains: None for this process, or the cluster that tests share."""
    if design.is_local:
        return None
    return shared_cluster() if design.cores == 1 else shared_cluster(2, 2, design.cores)


def untrained(design: DesignPromises, **settings: Any) -> TFWord2Vec:
    """Return a model of the design with a vocabulary; further settings replace those of the table."""
    mode = mode_of_documents() if design.documents else MODE
    with design.registered():
        model = _class_of(design)(**{"cluster": place_of(design)} | mode | _TRAINING | {**design.arguments} | settings)
        model.build_vocab(_corpus_of(design, SENTENCES))
    return model


def _class_of(design: DesignPromises) -> type[TFWord2Vec]:
    return TFDoc2Vec if design.documents else TFWord2Vec


def _corpus_of(design: DesignPromises, sentences: Any) -> Any:
    return Tagged(sentences) if design.documents else sentences


def train(design: DesignPromises, model: TFWord2Vec, corpus: Any = SENTENCES, **arguments: Any) -> tuple[int, int]:
    """Train a model to its end, and return the trained words and the raw words."""
    totals = {"total_examples": len(SENTENCES), "total_words": WORDS, "epochs": model.epochs}
    with design.registered(), _small_reads():
        return model.train(_corpus_of(design, corpus), **totals | arguments)


def trained(design: DesignPromises, **settings: Any) -> TFWord2Vec:
    """Return a model of the design that was trained without a disturbance."""
    model = untrained(design, **settings)
    train(design, model)
    return model


@functools.cache
def undisturbed(name: str, workers: int = 1) -> TFWord2Vec:
    """Return the model of a design of this name, which tests share and leave as it is."""
    return trained(REGISTRY[name], workers=workers)


def in_one_process(design: DesignPromises) -> TFWord2Vec:
    """Return a model that one process has trained by the same design, or by the default if the design needs tasks."""
    for entry in REGISTRY.values():
        is_same = (entry.distribution, entry.optimizer) == (design.distribution, design.optimizer)
        if entry.is_local and is_same and entry.documents == design.documents:
            return undisturbed(entry.name)
    shared = {name: value for name, value in design.arguments.items() if name not in {"distribution", *design.takes}}
    plain = patch("gensim_tfw2v.steps.kernel.kernel", plain_kernel)
    with plain if design.moves_by_batch else nullcontext():
        return trained(REGISTRY["downpour-here-documents" if design.documents else "downpour-here"], **shared)


def most_equal_workers(design: DesignPromises) -> int:
    """Return how many workers at most give the same bits in two trainings."""
    return 2 if design.equal_runs_of_several else 1


def resumed(design: DesignPromises, folder: Path, **changes: Any) -> TFWord2Vec:
    """Return the model of a training that was stopped, after it was trained to its end from a checkpoint."""
    with design.registered(), _small_reads():
        corpus = _corpus_of(design, SENTENCES)
        return _class_of(design).resume(folder, corpus, **{"cluster": place_of(design)} | changes)


@contextmanager
def _small_reads() -> Iterator[None]:
    """Read few sentences of an iterable at a time."""
    before, tuning.ITERABLE_PIECES = tuning.ITERABLE_PIECES, _SENTENCES_READ_AT_ONCE
    try:
        yield
    finally:
        tuning.ITERABLE_PIECES = before


@contextmanager
def tables_freed(place: Any) -> Iterator[None]:
    """Check that what trains in the block leaves no tables on the tasks of a cluster; None has no tasks."""
    if place is None:
        yield
        return
    before = leases_on(place, "ps", "worker")
    yield
    assert leases_on(place, "ps", "worker") <= before, "tables are left"


class Disturbed:
    """The sentences. The thread that reads them calls a function after so many, counted over all passes."""

    def __init__(self, sentence: int, disturb: Callable[[], Any]) -> None:
        self._left, self._disturb = sentence, disturb

    def __iter__(self) -> Iterator[list[str]]:
        for sentence in SENTENCES:
            if self._left == 0:
                self._disturb()
            self._left -= 1
            yield sentence


def sentence_at(epochs: float) -> int:
    """Return the number of the sentence at which so many epochs, or parts of one, have been read."""
    return round(epochs * len(SENTENCES))


@contextmanager
def ctrl_c_interrupts() -> Iterator[None]:
    """Have SIGINT raise KeyboardInterrupt, also in a process that a shell runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def press_ctrl_c() -> None:
    """Interrupt the main thread as a terminal does."""
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


@contextmanager
def ends_within(seconds: float) -> Iterator[None]:
    """Fail if the block takes so many seconds: without this, a test that hangs would never end."""

    def fail(*_: Any) -> None:
        raise AssertionError(f"training has not ended after {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, fail)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
