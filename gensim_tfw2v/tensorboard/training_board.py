"""A training as TensorBoard shows it: takes progress events, and looks at the vectors now and then."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.blocks.sampling import ids_by_count, word_counts
from gensim_tfw2v.placement.interface import ModelTables
from gensim_tfw2v.tensorboard import curves, summaries
from gensim_tfw2v.tensorboard.event_file import folder_of_run
from gensim_tfw2v.tensorboard.options import TensorBoardLog
from gensim_tfw2v.tensorboard.projector import write_tensors
from gensim_tfw2v.tensorboard.run_files import RunFiles
from gensim_tfw2v.tensorboard.throttle import Throttle
from gensim_tfw2v.tensorboard.traces import Trace
from gensim_tfw2v.tensorboard.vector_metrics import Evaluation, Neighbours, NormGroups, choose_probes, tables_by_name
from gensim_tfw2v.training.progress import EpochCounts, EpochProgress

# Looking at the vectors in the midst of an epoch may take this share of the time.
_SHARE_FOR_NORMS = 0.002
_SHARE_FOR_SCORES = 0.005


@dataclass(frozen=True)
class Subject:
    """What is trained, as far as the board needs to know."""

    vocabulary: Any  # gensim's KeyedVectors: words and counts
    hyperparameters: Mapping[str, Any]
    graph: Callable[[], bytes]  # the serialised GraphDef of a step
    tables: Callable[[], ModelTables]  # a copy of the current vectors, also while they are trained


class TrainingBoard:
    """Logs one call of `train()`. An error in writing is raised before training; later it is warned of once.

    To be used in a `with` statement, whose end tells how training ended.
    """

    def __init__(self, options: TensorBoardLog, subject: Subject) -> None:
        self._options, self._subject = options, subject
        self._folder = folder_of_run(Path(options.logdir).absolute())  # a callback may change the working directory
        self._files = RunFiles(options.logdir, self._folder)
        self._trace = Trace(self._folder, options.trace_seconds, options.trace_hosts)
        self._evaluation = Evaluation(options.pairs, options.analogies)
        by_count = ids_by_count(word_counts(subject.vocabulary))
        self._groups = NormGroups.of(by_count)
        self._neighbours = Neighbours(subject.vocabulary.index_to_key, self._probes(by_count), options.neighbours)
        self._norms_throttle = Throttle(options.every_seconds, _SHARE_FOR_NORMS)
        self._scores_throttle = Throttle(options.score_every_seconds, _SHARE_FOR_SCORES)
        self._step = 0  # words trained in earlier epochs
        self._seconds = 0.0
        self._next_points = 0.0
        self._since = EpochCounts()
        self._final: dict[str, float] = {}
        try:
            self._begin()
        except BaseException:
            self._files.close()
            raise
        self._files.forgive = True

    def __enter__(self) -> TrainingBoard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._trace.close(wait=kind is None)
        if kind is None and self._options.projector != "none":
            self._files.do(lambda: self._export("vectors", self._subject.tables()))
        self._files.scalars(self._step, {f"final/{name}": value for name, value in self._final.items()})
        self._files.summary(self._step, summaries.session_end(succeeded=kind is None))
        self._files.close()

    def advance(self, progress: EpochProgress) -> None:
        """Log what happened since the last point, if it is time for the next, and look at the vectors now and then."""
        self._trace.advance(self._step + progress.counts.trained_words)
        if progress.counts.seconds < self._next_points:
            return
        self._next_points = progress.counts.seconds + self._options.every_seconds
        self._log_points(progress)
        step = self._step + progress.counts.trained_words
        if self._norms_throttle.is_due():
            with self._norms_throttle:
                self._files.scalars(step, self._groups.mean_norms(self._subject.tables()))
        if self._scores_throttle.is_due():
            with self._scores_throttle:
                self._log_scores(step, self._subject.tables())

    def end_epoch(self, progress: EpochProgress) -> None:
        """Log a finished epoch and what its vectors are like."""
        self._log_points(progress)
        self._step += progress.counts.trained_words
        self._seconds += progress.counts.seconds
        self._next_points, self._since = 0.0, EpochCounts()
        self._files.scalars(self._step, curves.epoch_points(progress))
        tables = self._subject.tables()
        scores = self._log_vectors(tables)
        words = progress.counts.raw_words * (progress.epoch + 1)
        final = {"loss": progress.counts.mean_loss, "words_per_second": words / max(self._seconds, 1e-9), **scores}
        self._final = {name: value for name, value in final.items() if math.isfinite(value)}
        if self._options.projector == "epochs":
            self._files.do(lambda: self._export(f"epoch-{progress.epoch + 1:02d}", tables))

    def _begin(self) -> None:
        """Log what is known beforehand, and the vectors as they are: what cannot be logged fails here."""
        self._files.graph(self._subject.graph())
        scores = self._log_vectors(self._subject.tables())
        settings = self._subject.hyperparameters
        metrics = [*curves.METRICS, *(f"final/{name}" for name in scores)]
        self._files.summary(0, summaries.experiment(settings, metrics))
        run = f"{self._folder.resolve().name} {time.strftime('%Y-%m-%d %H:%M:%S')}"
        self._files.summary(0, summaries.session_start(settings, run))

    def _probes(self, by_count: npt.NDArray[np.int64]) -> dict[str, int]:
        vocabulary, words = self._subject.vocabulary, self._options.probes
        if words is None:
            words = choose_probes(vocabulary.index_to_key, by_count)
        unknown = [word for word in words if word not in vocabulary.key_to_index]
        if unknown:
            raise ValueError(f"probes must be words of the vocabulary, got {unknown[0]!r}")
        return {word: vocabulary.key_to_index[word] for word in words}

    def _log_points(self, progress: EpochProgress) -> None:
        if progress.counts.trained_words == self._since.trained_words:
            return
        step = self._step + progress.counts.trained_words
        self._files.scalars(step, curves.running_points(progress, self._since))
        for task, figures in progress.tasks.items():
            self._files.scalars(step, curves.task_points(figures), task)
        self._since = progress.counts

    def _log_vectors(self, tables: ModelTables) -> dict[str, float]:
        """Log norms, neighbours and scores, and return the scores."""
        self._files.scalars(self._step, self._groups.mean_norms(tables))
        for name, table in tables_by_name(tables):
            norms = np.linalg.norm(table, axis=1)
            if np.isfinite(norms).all():
                self._files.summary(self._step, summaries.histogram(f"norms/{name}_vectors", norms))
        if self._neighbours.probes:
            self._files.summary(self._step, summaries.text("neighbours", self._neighbours.table(tables.inputs)))
        return self._log_scores(self._step, tables)

    def _log_scores(self, step: int, tables: ModelTables) -> dict[str, float]:
        scores = self._evaluation.points(self._subject.vocabulary, tables.inputs)
        self._files.scalars(step, {f"scores/{name}": score for name, score in scores.items()})
        return scores

    def _export(self, name: str, tables: ModelTables) -> None:
        shown = {name: tables.inputs}
        if self._options.projector_outputs and tables.outputs is not None:
            shown[f"{name}-output"] = tables.outputs
        write_tensors(self._subject.vocabulary, shown, self._folder, self._options.projector_words)
