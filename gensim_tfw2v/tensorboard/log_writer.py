"""Writes the log of a training for TensorBoard: curves of its progress, and metrics of its vectors."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.blocks.sampling import ids_by_count, word_counts
from gensim_tfw2v.cluster.specification import Addresses
from gensim_tfw2v.evaluation import score_vectors
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.steps.settings import StepSettings
from gensim_tfw2v.tensorboard import curves, summaries
from gensim_tfw2v.tensorboard.event_files import RunFiles, folder_of_run
from gensim_tfw2v.tensorboard.options import TensorBoardLog
from gensim_tfw2v.tensorboard.projector import write_tensors
from gensim_tfw2v.tensorboard.traces import Trace
from gensim_tfw2v.tensorboard.vector_metrics import Neighbours, NormGroups, choose_probes, percentages, tables_by_name
from gensim_tfw2v.training.progress import EpochCounts, EpochPosition, EpochProgress

# Metrics of the vectors within an epoch may take this share of the time.
_SHARE_FOR_NORMS = 0.002
_SHARE_FOR_SCORES = 0.005


@dataclass(frozen=True, kw_only=True)
class LoggedTraining:
    """The data of a training that a log can have before training begins."""

    settings: StepSettings  # of the steps whose graph is shown
    tables: Callable[[], ModelTables]  # returns a copy of the current tables, also during training
    addresses: Addresses | None  # of the cluster's tasks by job; None: this process trains
    folder: str | None = None  # of the log, if the training is resumed
    begun: Sequence[EpochPosition] = ()  # how far the epochs of a resumed training have come
    can_be_resumed: bool = False  # the training can be resumed if it ends early, and its log with it
    validation: Sequence[str] = ()  # the metrics that are measured after each epoch
    documents: Callable[[], Any] | None = None  # returns their current vectors, as KeyedVectors


class LogWriter:
    """Writes the log of one call of `train()`.

    Use it in a `with` statement: an error that leaves the statement is logged as a failed training, unless the training
    can be resumed, because TensorBoard would keep that state. Before training, an error in writing is raised. During
    training, the first such error is logged as a warning and ends the log.

    Parameters
    ----------
    vocabulary : KeyedVectors
        The words of the model, and their counts.
    graph : callable
        Returns the serialised GraphDef of a step.
    training : LoggedTraining
        The training. The folder of a resumed one is used again if it is in the options' `logdir`.
    """

    def __init__(
        self,
        options: TensorBoardLog,
        vocabulary: Any,
        hyperparameters: Mapping[str, Any],
        graph: Callable[[], bytes],
        training: LoggedTraining,
    ) -> None:
        self._options, self._vocabulary, self._training = options, vocabulary, training
        logdir = Path(options.logdir).absolute()  # a callback may change the working directory
        folder = None if training.folder is None else Path(training.folder)
        is_there = folder is not None and folder.is_dir() and folder.is_relative_to(logdir)
        self.folder = folder if folder is not None and is_there else folder_of_run(logdir)
        self._files = RunFiles(options.logdir, self.folder)
        self._trace = Trace(self.folder, options.trace_seconds, options.trace_hosts)
        by_count = ids_by_count(word_counts(vocabulary))
        self._groups = NormGroups.of(by_count)
        self._neighbours = Neighbours(vocabulary.index_to_key, self._probe_ids(by_count), options.neighbours)
        self._norms_throttle = _Throttle(options.every_seconds, _SHARE_FOR_NORMS)
        self._scores_throttle = _Throttle(options.score_every_seconds, _SHARE_FOR_SCORES)
        self._final: dict[str, float] = {}
        try:
            self._go_to(training.begun)
            if not is_there:
                self._begin(hyperparameters, graph)
        except BaseException:
            self._files.close()
            raise
        self._files.only_warn = True

    def __enter__(self) -> LogWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._trace.close(wait=kind is None)
        if kind is None and self._options.projector != "none":
            self._files.do(lambda: self._export("vectors", self._training.tables()))
        if kind is None or not self._training.can_be_resumed:
            self._files.scalars(self._step, {f"final/{name}": value for name, value in self._final.items()})
            self._files.write(step=self._step, summary=summaries.session_end(succeeded=kind is None))
        self._files.close()

    def continue_from(self, positions: Sequence[EpochPosition]) -> None:
        """Log from these positions on; TensorBoard drops later points."""
        self._go_to(positions)
        self._files.purge(self._step + self._logged.trained_words + 1)

    def _go_to(self, positions: Sequence[EpochPosition]) -> None:
        """Count from these positions on."""
        finished = [position.counts for position in positions if position.is_finished]
        running = next((position.counts for position in positions if not position.is_finished), EpochCounts())
        self._step = sum(counts.trained_words for counts in finished)  # words trained in earlier epochs
        self._seconds = sum(counts.seconds for counts in finished)
        self._next_points = running.seconds  # seconds of the epoch
        self._logged = running  # counts of the epoch's latest points
        self._timed = running  # counts of the latest point of its speed

    def advance(self, progress: EpochProgress) -> None:
        """Log the next points, and metrics of the vectors, each if it is due."""
        self._trace.advance(self._step + progress.counts.trained_words)
        for point in progress.points:
            self._files.scalars(self._step + point.trained_words, curves.validation_points(point.values))
        if progress.counts.seconds < self._next_points:
            return
        self._next_points = progress.counts.seconds + self._options.every_seconds
        self._log_points(progress)
        step = self._step + progress.counts.trained_words
        if self._norms_throttle.is_due():
            with self._norms_throttle:
                self._files.scalars(step, self._groups.mean_norms(self._training.tables()))
        if self._scores_throttle.is_due():
            with self._scores_throttle:
                self._log_scores(step, self._training.tables())

    def end_epoch(self, progress: EpochProgress) -> None:
        """Log a finished epoch and all metrics of its vectors."""
        self._log_points(progress, is_end=True)
        self._step += progress.counts.trained_words
        self._seconds += progress.counts.seconds
        self._next_points, self._logged, self._timed = 0.0, EpochCounts(), EpochCounts()
        self._files.scalars(self._step, curves.epoch_points(progress))
        tables = self._training.tables()
        scores = self._log_vectors(tables, self._step)
        words = progress.counts.raw_words * (progress.epoch + 1)
        final = {"loss": progress.counts.mean_loss, "words_per_second": words / max(self._seconds, 1e-9), **scores}
        final |= {curves.validation_tag(name): value for name, value in progress.validation.items()}
        self._final = {name: value for name, value in final.items() if math.isfinite(value)}
        if self._options.projector == "epochs":
            self._files.do(lambda: self._export(f"epoch-{progress.epoch + 1:02d}", tables))

    def _begin(self, settings: Mapping[str, Any], graph: Callable[[], bytes]) -> None:
        """Log everything known before training, so that errors in logging are raised before training."""
        self._files.write(graph_def=graph())
        scores = self._log_vectors(self._training.tables(), self._step + self._logged.trained_words)
        measured = map(curves.validation_tag, self._training.validation)
        metrics = [*curves.METRICS, *(f"final/{name}" for name in (*measured, *scores))]
        self._files.write(step=0, summary=summaries.experiment(settings, metrics))
        name = f"{self.folder.resolve().name} {time.strftime('%Y-%m-%d %H:%M:%S')}"
        self._files.write(step=0, summary=summaries.session_start(settings, name))

    def _probe_ids(self, by_count: npt.NDArray[np.int64]) -> dict[str, int]:
        """Return the probe words with their ids."""
        vocabulary, words = self._vocabulary, self._options.probes
        if words is None:
            words = choose_probes(vocabulary.index_to_key, by_count)
        unknown = [word for word in words if word not in vocabulary.key_to_index]
        if unknown:
            raise ValueError(f"probes must be words of the vocabulary, got {unknown[0]!r}")
        return {word: vocabulary.key_to_index[word] for word in words}

    def _log_points(self, progress: EpochProgress, is_end: bool = False) -> None:
        step = self._step + progress.counts.trained_words
        if progress.counts.trained_words != self._logged.trained_words:
            self._files.scalars(step, curves.running_points(progress, self._logged))
            for task, metrics in progress.tasks.items():
                self._files.scalars(step, curves.task_points(metrics), task)
            self._logged = progress.counts
        # Blocks of several workers end at the same time: measured over a few milliseconds, the speed would seem many
        # times as high.
        seconds = progress.counts.seconds - self._timed.seconds
        if seconds >= self._options.every_seconds or (is_end and not self._timed.seconds):
            self._files.scalars(step, curves.speed_points(progress, self._timed))
            self._timed = progress.counts

    def _log_vectors(self, tables: ModelTables, step: int) -> dict[str, float]:
        """Log norms, neighbours and scores, and return the scores by name, in percent."""
        from tensorboard.plugins.histogram.summary_v2 import histogram_pb
        from tensorboard.plugins.text.summary_v2 import text_pb

        self._files.scalars(step, self._groups.mean_norms(tables))
        for name, table in tables_by_name(tables):
            norms = np.linalg.norm(table, axis=1)
            if np.isfinite(norms).all():
                self._files.write(step=step, summary=histogram_pb(f"norms/{name}_vectors", norms))
        if self._neighbours.probes:
            self._files.write(step=step, summary=text_pb("neighbours", self._neighbours.table(tables.inputs)))
        return self._log_scores(step, tables)

    def _log_scores(self, step: int, tables: ModelTables) -> dict[str, float]:
        words = SimpleNamespace(index_to_key=self._vocabulary.index_to_key, vectors=tables.inputs)
        scores = percentages(score_vectors(words, self._options.pairs, self._options.analogies))
        self._files.scalars(step, curves.score_points(scores))
        return scores

    def _export(self, name: str, tables: ModelTables) -> None:
        shown = {name: tables.inputs}
        if self._options.projector_outputs and tables.outputs is not None:
            shown[f"{name}-output"] = tables.outputs
        write_tensors(self._vocabulary, shown, self.folder, self._options.projector_words)
        if self._training.documents is not None:
            documents = self._training.documents()
            shown = {f"{name}-documents": documents.vectors}
            write_tensors(documents, shown, self.folder, self._options.projector_words, heading="tag")


class _Throttle:
    """Allows an action every `seconds`, or less often if it would take more than `share` of the time."""

    def __init__(self, seconds: float, share: float) -> None:
        self._seconds, self._share = seconds, share
        self._began = 0.0
        self._next = time.perf_counter() + seconds

    def is_due(self) -> bool:
        """Return whether the action is due; it is done inside `with` this throttle, which measures its time."""
        return time.perf_counter() >= self._next

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *error: object) -> None:
        ended = time.perf_counter()
        self._next = ended + max(self._seconds, (ended - self._began) / self._share)
