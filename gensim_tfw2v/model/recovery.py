"""Continues a training that has lost tasks with vectors: waits for the cluster, and restores the newest state left."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from gensim.models import Word2Vec

from gensim_tfw2v.checkpoints.errors import CheckpointError
from gensim_tfw2v.checkpoints.folder import Checkpoint, CheckpointFolder
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.health import call_in_thread
from gensim_tfw2v.model.checkpoint_content import read_tables
from gensim_tfw2v.placement.request import PlacementChoice
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.training.progress import EpochPosition, EpochProgress, ProgressObserver
from gensim_tfw2v.training.state import state_in

logger = logging.getLogger(__name__)

STORAGE_SECONDS = 60.0  # that the storage of checkpoints may take to answer
_SECONDS_BETWEEN_TRIALS = 1.0
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class RestorePoint:
    """A moment of the training to continue from; the model has its tables, or servers make them again."""

    epochs: list[EpochPosition]
    placement: Mapping[str, Any] = field(default_factory=dict)  # what `Placement.state` returned
    checkpoint: Checkpoint | None = None  # has the placement's own tables

    def raw_words(self) -> int:
        """Return the raw words trained until then."""
        return sum(position.counts.raw_words for position in self.epochs)


class Recovery(ProgressObserver):
    """The recoveries of one training.

    Parameters
    ----------
    connect : callable
        Connects to the cluster again and returns where to train.
    run : str
        The training's name in its checkpoints.
    """

    def __init__(
        self, model: Word2Vec, connect: Callable[[], PlacementChoice], folder: CheckpointFolder | None, run: str
    ) -> None:
        self._model, self._connect, self._folder, self._run = model, connect, folder, run
        self._trained: dict[int, int] = {}  # raw words of each epoch
        self._kept: RestorePoint | None = None
        self._count = 0
        self._seconds = 0.0
        self._words_again = 0

    def advance(self, progress: EpochProgress) -> None:
        self._trained[progress.epoch] = progress.counts.raw_words

    end_epoch = advance

    def continue_from(self, positions: Sequence[EpochPosition]) -> None:
        self._trained = {position.epoch: position.counts.raw_words for position in positions}

    def keep(self, epochs: Sequence[EpochPosition], placement: Mapping[str, Any]) -> None:
        """Record that the model's own matrices are those of this moment, when no chunk was in training."""
        if not self._model.vectors_on_servers:
            self._kept = RestorePoint(list(epochs), placement)
        elif self._folder is not None and not epochs and self._model.wv.vectors.store.is_untrained:
            self._kept = RestorePoint([])

    def check_possible(self, error: ClusterError) -> None:
        """Raise an error that says why training cannot continue, if it cannot."""
        if self._folder is not None:
            with suppress(TimeoutError):
                _in_time(self._folder.check_is_held)  # the training that holds it may have freed these tables
        if not self._model.max_recoveries:
            raise error
        if self._count >= self._model.max_recoveries:
            raise ClusterError(
                f"{error} Training has continued {self._count} times after such losses (max_recoveries is "
                f"{self._model.max_recoveries})"
            ) from error
        if self._kept is None and not self._checkpoints():
            raise error

    def wait_for_cluster(self, error: ClusterError) -> PlacementChoice:
        """Return where to train, once the lost tasks answer; raise ClusterError if they do not in time."""
        timeout = self._model.recovery_timeout
        logger.warning("%s. Training waits up to %.0f s until lost tasks with vectors answer again", error, timeout)
        began = time.monotonic()
        while True:
            try:
                choice = self._connect()
            except (ClusterError, load_tensorflow().errors.OpError) as reason:  # a server may have just ended again
                if time.monotonic() - began > timeout:
                    late = f"They did not answer within recovery_timeout={timeout:g} s"
                    raise ClusterError(f"{error}. {late}: {reason}") from reason
                time.sleep(_SECONDS_BETWEEN_TRIALS)
            else:
                self._count += 1
                self._seconds += time.monotonic() - began
                return choice

    def restore(self) -> RestorePoint:
        """Return the newest moment that can be restored, with its tables in the model."""
        found = self._newest()
        again = max(0, sum(self._trained.values()) - found.raw_words())
        self._words_again += again
        logger.warning("training continues; %s words are trained again", f"{again:,}")
        return found

    def report(self) -> dict[str, Any]:
        """Return how often training has continued, how long it waited, and how many words it trained again."""
        return {"count": self._count, "seconds": self._seconds, "raw_words_again": self._words_again}

    def _newest(self) -> RestorePoint:
        for path in reversed(self._checkpoints()):
            try:
                checkpoint = _in_time(partial(Checkpoint, path))
                state = state_in(checkpoint)
                is_older = self._kept is not None and state.raw_words() <= self._kept.raw_words()
                if is_older or state.run != self._run:
                    break
                checkpoint.check()  # before a matrix is changed
                read_tables(self._model, checkpoint)
            except TimeoutError:
                logger.warning("%s does not answer; an earlier moment is used", path)
                break
            except (CheckpointError, OSError) as error:
                logger.warning("%s; the one before it is used", error)
            else:
                return RestorePoint(state.epochs, state.placement, checkpoint)
        if self._kept is None:
            raise ClusterError("the vectors were lost with their tasks, and no checkpoint of them can be read")
        return self._kept

    def _checkpoints(self) -> list[Path]:
        if self._folder is None:
            return []
        try:
            return _in_time(self._folder.checkpoints)
        except TimeoutError:
            logger.warning("%s does not answer; its checkpoints are not used", self._folder.path)
            return []


def _in_time(read: Callable[[], _Result]) -> _Result:
    """Return what a function reads, or raise TimeoutError: a storage that hangs may never answer."""
    result: Future[_Result] = Future()
    call_in_thread(result, read)
    if not wait([result], STORAGE_SECONDS).done:
        raise TimeoutError
    return result.result()
