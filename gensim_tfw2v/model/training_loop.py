"""Runs a training plan for a model: its epochs, callbacks and logs, with the vectors back in the model at the end."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import Any

from gensim_tfw2v.corpus.sources import Source
from gensim_tfw2v.model.table_sync import TableSync
from gensim_tfw2v.model.training_plan import TrainingPlan
from gensim_tfw2v.tensorboard.model_log import start_log
from gensim_tfw2v.tensorboard.options import TensorBoardLog
from gensim_tfw2v.training.display import TrainingBar, TrainingLog, wants_bar
from gensim_tfw2v.training.divergence import DivergenceError
from gensim_tfw2v.training.epochs import EpochPlan, train_epochs
from gensim_tfw2v.training.progress import EpochCounts, ProgressObserver

logger = logging.getLogger(__name__)

_NOTABLE_PART = 1000  # a corpus has changed if it is longer or shorter by more than one such part


class TrainingLoop:
    """Trains a model by a plan.

    Parameters
    ----------
    model : TFWord2Vec
        Its vectors, losses and report are up to date after each epoch that a callback or a log can see, and at the end.
    plan : TrainingPlan
        What is trained.
    source : Source
        The corpus; closed at the end.
    from_file : bool
        Whether the corpus is a file, which gensim's log lines depend on.
    """

    def __init__(self, model: Any, plan: TrainingPlan, source: Source, from_file: bool) -> None:
        self._model, self._plan, self._source, self._from_file = model, plan, source, from_file
        self._counts: list[EpochCounts] = []

    def run(self, callbacks: Sequence[Any], log: TensorBoardLog | None, report_delay: float) -> list[EpochCounts]:
        """Return what each epoch has done; whatever ends training early, the model has what was learnt until then."""
        model, plan = self._model, self._plan
        shown = TrainingBar() if wants_bar(model.progress) else TrainingLog(report_delay)
        with ExitStack() as cleanup:
            cleanup.callback(self._source.close)
            cleanup.callback(shown.close)
            sync = TableSync(model, plan.placement(self._source))
            cleanup.callback(sync.close)
            observers: list[ProgressObserver] = [shown]
            if log is not None:
                training_log = start_log(model, log, plan.settings, sync.look, plan.choice.addresses)
                observers.append(cleanup.enter_context(training_log))
            # Epochs follow each other without a pause, unless something looks at the model between them.
            is_seen_between = bool(callbacks) or log is not None
            for epochs in [[epoch] for epoch in range(model.epochs)] if is_seen_between else [range(model.epochs)]:
                for callback in callbacks:
                    callback.on_epoch_begin(model)
                self._train(epochs, sync, observers, has_callbacks=bool(callbacks))
                for callback in callbacks:
                    callback.on_epoch_end(model)
        return self._counts

    def _train(
        self, epochs: Sequence[int], sync: TableSync, observers: Sequence[ProgressObserver], has_callbacks: bool
    ) -> None:
        """Train epochs one after the other, with the model's attributes up to date after each."""
        model = self._model
        with (
            _most_moved_word_named(sync),
            closing(train_epochs(map(self._plan.epoch, epochs), self._source, sync.push(), observers)) as trained,
        ):
            for done, counts in trained:
                self._counts.append(counts)
                self._record(done, counts)
                model.training_report = sync.report(sum(counts.raw_words for counts in self._counts))
                if has_callbacks:  # they may read the model, and change it
                    sync.pull()
                elif done.epoch + 1 < model.epochs:  # after the last epoch the model is brought up to date at once
                    sync.back_up()
                sync.check_words()

    def _record(self, plan: EpochPlan, counts: EpochCounts) -> None:
        """Add an epoch's counts to the model's attributes and to gensim's log."""
        model = self._model
        if counts.blocks == 0 and counts.raw_words == 0 and model.train_count == 0:
            logger.warning(
                "train() called with an empty iterator (if not intended, "
                "be sure to provide a corpus that offers restartable iteration = an iterable)."
            )
        model.epoch_losses.append(counts.mean_loss)
        if model.compute_loss:
            model.running_training_loss += counts.loss
        model.total_train_time += counts.seconds
        model._log_epoch_end(
            plan.epoch,
            counts.examples,
            plan.total_examples,
            counts.raw_words,
            plan.total_words,
            counts.trained_words,
            max(counts.seconds, 1e-9),
            self._from_file,
        )
        if self._from_file:  # of other corpora gensim's own log has said so by now
            _warn_of_other_size(plan, counts)


def _warn_of_other_size(plan: EpochPlan, counts: EpochCounts) -> None:
    """Warn of a corpus that has notably more or fewer sentences or words than were counted."""
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


@contextmanager
def _most_moved_word_named(sync: TableSync) -> Iterator[None]:
    """Add the word that has moved most to an error that says that training diverged."""
    try:
        yield
    except DivergenceError as error:
        found = error
        with suppress(MemoryError, RuntimeError):  # the search needs a copy of the vectors, and servers that answer
            found = sync.with_most_moved_word(error)
        raise found from None
