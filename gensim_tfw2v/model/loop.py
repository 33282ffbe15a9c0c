"""Runs a training plan: its epochs, callbacks, checkpoints and log, with the tables back in the model at the end."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from typing import Any

from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.model.checkpointing import Checkpointer
from gensim_tfw2v.model.documents import has_documents
from gensim_tfw2v.model.recovery import STORAGE_SECONDS, Recovery
from gensim_tfw2v.model.results import record_epoch, record_epochs, record_report, record_validation
from gensim_tfw2v.model.table_sync import TableSync
from gensim_tfw2v.model.training_plan import TrainingPlan
from gensim_tfw2v.tensorboard.log_writer import LoggedTraining, LogWriter
from gensim_tfw2v.tensorboard.model_log import HYPERPARAMETERS, start_log
from gensim_tfw2v.tensorboard.options import TensorBoardLog, log_options
from gensim_tfw2v.training.callbacks import EpochCallbacks
from gensim_tfw2v.training.display import TrainingBar, TrainingLog, wants_bar
from gensim_tfw2v.training.divergence import DivergenceError
from gensim_tfw2v.training.epoch import EpochPlan
from gensim_tfw2v.training.epochs import train_epochs
from gensim_tfw2v.training.progress import EpochCounts, EpochPosition, ProgressObserver
from gensim_tfw2v.training.state import TrainingState, note_epochs_ended, state_in

logger = logging.getLogger(__name__)

_NOTABLE_PART = 1000  # a corpus has changed if its length differs by more than this part of it


class TrainingLoop:
    """Trains a model by a plan.

    The model's tables, losses and report are up to date after each epoch that a callback or a log can see, and at the
    end. The plan's corpus is closed at the end.
    """

    def __init__(self, plan: TrainingPlan) -> None:
        self._model, self._plan, self._validation = plan.model, plan, plan.validation
        resumed, folder = plan.beginning.state, plan.beginning.folder
        self._run = secrets.token_hex(8) if resumed is None else resumed.run  # the training's name
        self._positions = {} if resumed is None else {position.epoch: position for position in resumed.epochs}
        self._placement_state = {} if resumed is None else resumed.placement
        self._checkpoint = plan.beginning.checkpoint
        self._seconds_before = plan.model.total_train_time if resumed is None else resumed.seconds_before
        self._log_folder = None if resumed is None else resumed.log_folder
        self._log_options = log_options(plan.arguments.logdir)
        self._from_file = plan.arguments.corpus.file is not None  # which gensim's log lines depend on
        self._callbacks = EpochCallbacks(
            plan.model,
            list(plan.arguments.callbacks),
            0 if resumed is None else resumed.epochs_ended,
            None if folder is None else lambda ended: note_epochs_ended(folder, self._run, ended),
        )
        self._recovery = Recovery(plan.model, plan.connect, folder, self._run)
        self._checkpointer: Checkpointer | None = None
        if folder is not None:
            kept, every = self._validation.kept_arrays, plan.model.checkpoint_every
            self._checkpointer = Checkpointer(folder, plan.model, every, self._state, kept)

    def run(self) -> list[EpochCounts]:
        """Train, and return each epoch's counts; however training ends, the model has what was learnt until then."""
        shown = TrainingBar() if wants_bar(self._model.progress) else TrainingLog(self._plan.arguments.report_delay)
        with ExitStack() as cleanup:
            cleanup.callback(self._plan.source.close)
            cleanup.callback(shown.close)
            self._sync = TableSync(self._model, self._plan.placement())
            cleanup.callback(self._sync.close)
            self._validation.begin(self._sync.rows, self._sync.copies)
            self._observers: list[ProgressObserver] = [shown, self._recovery]
            if self._log_options is not None:
                self._observers.append(cleanup.enter_context(self._start_log(self._log_options)))
            if self._checkpointer is not None:
                cleanup.callback(self._checkpointer.end)
            self._resume()
            while not self._trains_to_the_end():
                continue
        return [position.counts for position in self._finished()]

    def _start_log(self, options: TensorBoardLog) -> LogWriter:
        training = LoggedTraining(
            settings=self._plan.choices.settings,
            tables=self._sync.look_at_words,
            addresses=self._plan.choice.addresses,
            folder=self._log_folder,
            begun=list(self._positions.values()),
            can_be_resumed=self._checkpointer is not None,
            validation=self._validation.metrics,
            documents=self._sync.look_at_documents if has_documents(self._model) else None,
        )
        hyperparameters = {name: getattr(self._model, name) for name in HYPERPARAMETERS}
        log = start_log(options, self._model.wv, hyperparameters, training)
        self._log_folder = str(log.folder)
        return log

    def _trains_to_the_end(self) -> bool:
        """Train; return False if servers were lost and training is to continue from an earlier moment."""
        try:
            self._train_all()
            self._finish_checkpoints()
            self._sync.pull()  # inside `try`, because servers may be lost until the model has the vectors
            if self._sync.placement.reading_takes_long:  # the report of the last epoch lacks it
                record_report(self._model, self._report())
            if best := self._validation.best_tables(len(self._finished())):
                self._sync.put(best)
        except DivergenceError as error:
            raise self._explained(error) from None
        except BaseException as error:
            if self._sync.placement.has_failed and isinstance(error, ClusterError):
                self._recover(error)
                return False
            if not self._sync.placement.has_failed:
                with suppress(Exception):  # the error that ended training is the one to raise
                    self._finish_checkpoints()
            raise
        return True

    def _train_all(self) -> None:
        model, finished = self._model, len(self._finished())
        for epoch in range(self._callbacks.ended, finished):  # training was interrupted before they were called
            self._callbacks.end(epoch)
        if self._validation.misses(finished) and finished == len(self._positions):  # interrupted before it was measured
            self._sync.push()
            self._validation.measure(finished - 1)
        left = range(finished, model.epochs)
        # Epochs follow each other without a pause, unless something reads the model between them.
        is_seen_between = bool(self._callbacks) or self._log_options is not None or bool(self._validation.metrics)
        for group in [range(epoch, epoch + 1) for epoch in left] if is_seen_between else [left] if left else []:
            if self._validation.ends_after(group[0]):
                model.epochs = group[0]
                break
            self._callbacks.begin(group[0])
            self._train(group)
            self._callbacks.end(group[-1])

    def _train(self, epochs: Sequence[int]) -> None:
        """Train epochs one after the other, with the model's attributes up to date after each."""
        model, sync = self._model, self._sync
        placement = sync.push()
        if self._checkpointer is not None:
            self._checkpointer.begin(placement, sync.shapes())
        plans, observers = map(self._plan.epoch, epochs), self._observers
        begun = {epoch: self._positions[epoch] for epoch in epochs if epoch in self._positions}
        trained = train_epochs(
            plans, self._plan.source, placement, observers, begun, self._checkpointer, self._validation
        )
        with closing(trained):
            for done, counts in trained:
                self._positions[done.epoch] = EpochPosition(done.epoch, counts=counts, is_finished=True)
                record_epoch(model, done, counts, self._from_file)
                record_validation(model, self._validation.values(len(self._finished())))
                if self._from_file:  # for other corpora gensim's own log has warned already
                    _warn_of_other_size(done, counts)
                record_report(model, self._report())
                is_last = done.epoch + 1 == model.epochs
                has_backup = False
                if self._callbacks:  # they may read the model, and change it
                    sync.pull()
                    model._clear_post_train()
                    has_backup = True
                elif not is_last:  # after the last epoch the model is brought up to date at once
                    # The best epoch's vectors are kept here, so servers must not take training back to before it.
                    has_backup = sync.back_up(is_due=self._validation.keeps_best)
                sync.check_words()
                if has_backup:
                    self._recovery.keep(self._finished(), sync.placement.state())

    def _recover(self, error: ClusterError) -> None:
        if self._checkpointer is not None:
            self._checkpointer.end(STORAGE_SECONDS)
        self._recovery.check_possible(error)
        self._sync.drop_placement()
        self._plan.choice = self._recovery.wait_for_cluster(error)
        point = self._recovery.restore()
        self._positions = {position.epoch: position for position in point.epochs}
        self._placement_state, self._checkpoint = point.placement, point.checkpoint
        self._plan.source.allow_passes()
        self._sync.placement = self._plan.placement()
        self._resume()

    def _resume(self) -> None:
        """Update everything that depends on the positions."""
        if self._placement_state:
            self._sync.placement.restore(self._placement_state)
        if self._checkpoint is not None:
            self._sync.placement.restore_tables(self._checkpoint.array)
        record_epochs(self._model, [position.counts for position in self._finished()], self._seconds_before)
        record_validation(self._model, self._validation.values(len(self._finished())))
        positions = list(self._positions.values())
        self._validation.continue_from(positions)
        self._recovery.keep(positions, self._placement_state)
        for observer in self._observers:
            observer.continue_from(positions)

    def _finished(self) -> list[EpochPosition]:
        return [position for _, position in sorted(self._positions.items()) if position.is_finished]

    def _state(self, positions: Sequence[EpochPosition]) -> TrainingState:
        """Return the state of the training, given the positions of the epochs that the present call trains."""
        epochs = {**self._positions, **{position.epoch: position for position in positions}}
        return TrainingState(
            run=self._run,
            choices=self._plan.choices,
            epochs=[epochs[epoch] for epoch in sorted(epochs)],
            placement=self._sync.placement.state(),
            epochs_ended=self._callbacks.ended,
            seconds_before=self._seconds_before,
            log_folder=self._log_folder,
            validation=self._validation.state,
        )

    def _finish_checkpoints(self) -> None:
        """Write the last checkpoint, from the tables that the model will have."""
        if self._checkpointer is not None:
            self._sync.push()
            self._checkpointer.finish()
            record_report(self._model, self._report())

    def _explained(self, error: DivergenceError) -> DivergenceError:
        """Return the error with the word that moved most and the training's last checkpoint, if there are any."""
        with suppress(MemoryError, RuntimeError):  # the search copies the vectors, from servers that answer
            error = self._sync.with_most_moved_word(error)
        if self._checkpointer is None:
            return error
        self._checkpointer.end()
        with suppress(OSError, ValueError):  # the state of the folder does not matter now
            newest = self._checkpointer.folder.newest()
            if newest is not None and state_in(newest).run == self._run:
                return error.with_checkpoint(str(newest.path))
        return error

    def _report(self) -> dict[str, Any] | None:
        of_cluster = self._sync.placement.report(sum(position.counts.raw_words for position in self._finished()))
        report = {} if of_cluster is None else {**of_cluster, "recoveries": self._recovery.report()}
        if self._checkpointer is not None:
            report["checkpoints"] = self._checkpointer.report()
        if self._validation.metrics:
            report["validation"] = self._validation.report(len(self._finished()))
        if (device := self._plan.choice.device) is not None:
            report |= {"device": device.name, "draws": self._plan.choice.draws.value}
        return report or None


def _warn_of_other_size(plan: EpochPlan, counts: EpochCounts) -> None:
    found = [(plan.total_examples, counts.examples, "sentences"), (plan.total_words, counts.raw_words, "raw words")]
    for expected, there, what in found:
        if expected and abs(there - expected) > expected / _NOTABLE_PART:
            logger.warning(
                "EPOCH %i: the corpus has %i %s, and %i were counted or given; learning rates follow from the latter",
                plan.epoch,
                there,
                what,
                expected,
            )
