"""One call of `train()`: gensim's checks and records, with the training loop between them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from timeit import default_timer
from typing import Any

import numpy as np
from gensim.models import Word2Vec

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.model.arguments import TRAINING_ARGUMENTS, plain_arguments
from gensim_tfw2v.model.checks import check_has_words, check_together, check_weights_fit, weights_in_training
from gensim_tfw2v.model.consistency import check_fits
from gensim_tfw2v.model.corpus_reading import check_holds_words
from gensim_tfw2v.model.documents import check_documents, has_documents
from gensim_tfw2v.model.loop import TrainingLoop
from gensim_tfw2v.model.optimizer_choice import choose_optimizer
from gensim_tfw2v.model.results import record_validation
from gensim_tfw2v.model.resuming import where_to_begin
from gensim_tfw2v.model.subwords import has_subwords
from gensim_tfw2v.model.tables import prepare_server_states, tables_of
from gensim_tfw2v.model.tables_on_disk import put_on_disk
from gensim_tfw2v.model.training_plan import TrainArguments, plan_for
from gensim_tfw2v.placement.contract import RemoteMatrix
from gensim_tfw2v.runtime.devices import find_device
from gensim_tfw2v.runtime.tensorflow import check_runs_at_once, is_tensorflow_loaded
from gensim_tfw2v.tensorboard.model_log import check_log
from gensim_tfw2v.tensorboard.options import log_options
from gensim_tfw2v.training.display import shown_while, wants_bar
from gensim_tfw2v.training.progress import EpochCounts

_FOR_ONE_TRAINING = ("device", "validation_metric", "distribution")


def train(model: Word2Vec, arguments: TrainArguments) -> tuple[int, int]:
    """Train a model; return the number of trained words and of raw words, over all epochs."""
    with _set_for_this_training(model, arguments), _settings_kept_if_it_fails(model), ExitStack() as cleanup:
        arguments = _completed(model, arguments)
        callbacks = list(arguments.callbacks)
        model.alpha = arguments.start_alpha or model.alpha
        model.min_alpha = arguments.end_alpha or model.min_alpha
        model.epochs = arguments.epochs  # gensim's own check needs a number
        _check_can_train(model, arguments)
        beginning = cleanup.enter_context(where_to_begin(model, arguments))
        if model.optimizer is None:
            model.optimizer = choose_optimizer(model)
        if model.tables_dir is not None:
            put_on_disk(model, begins=True)
        if beginning.state is None:
            _check_can_learn(model, arguments.freeze)
            prepare_server_states(model)
        _begin(model, arguments.compute_loss, callbacks)
        start = default_timer() - 0.00001
        loop = TrainingLoop(plan_for(model, arguments, beginning))
        try:
            of_epochs = loop.run()
        finally:
            model._clear_post_train()  # what follows from the trained rows, however training ends
    return _end(model, of_epochs, default_timer() - start, callbacks)


def _completed(model: Word2Vec, arguments: TrainArguments) -> TrainArguments:
    """Return the arguments, checked, with the model's own values where `train()` was given none."""
    rates = plain_arguments({"start_alpha": arguments.start_alpha, "end_alpha": arguments.end_alpha})
    vars(model).update(plain_arguments({name: getattr(model, name) for name in TRAINING_ARGUMENTS}))
    names = ("logdir", "cluster", "freeze", "validation", "early_stopping")
    own = {name: getattr(model if getattr(arguments, name) is None else arguments, name) for name in names}
    own |= plain_arguments(own) | {"logdir": log_options(own["logdir"])}
    check_log(own["logdir"])
    corpus = replace(arguments.corpus, weights=weights_in_training(model, arguments.weights, arguments.total_examples))
    check_weights_fit(corpus.weights, corpus.sentences, corpus.file)
    of_corpus = {"weights": corpus.weights, "corpus_file": corpus.file, "bags": has_subwords(model)}
    together = {**vars(model), **own, **of_corpus}
    check_together(together)
    if has_documents(model):
        check_documents(together)
    return replace(arguments, corpus=corpus, callbacks=list(arguments.callbacks), **rates, **own)


def _check_can_train(model: Word2Vec, arguments: TrainArguments) -> None:
    sentences, file = arguments.corpus.sentences, arguments.corpus.file
    total_examples, total_words = arguments.total_examples, arguments.total_words
    if not len(model.wv) and file is not None and os.path.isfile(file):
        check_holds_words(file, model.column)
    check_has_words(model)
    model._check_training_sanity(epochs=model.epochs, total_examples=total_examples, total_words=total_words)
    passes = model.epochs + int(isinstance(arguments.validation, float))  # sentences are held out before training
    if sentences is not None or not model._reader.keeps_deleted(file):
        model._check_corpus_sanity(corpus_iterable=sentences, corpus_file=file, passes=passes)
    if file is not None and not total_words:
        raise ValueError("total_words must be provided alongside corpus_file argument.")
    check_fits(model)
    with shown_while("loading TensorFlow", wants_bar(model.progress) and not is_tensorflow_loaded()):
        check_runs_at_once()
    if model.device is not None and arguments.cluster is None:
        find_device(model.device)


def _check_can_learn(model: Word2Vec, freeze: str | None) -> None:
    """Raise ValueError if output vectors that stay as they are are zeros: then all gradients of inputs are zero."""

    def is_trained(outputs: Float32Array | RemoteMatrix) -> bool:
        return not outputs.store.is_untrained if isinstance(outputs, RemoteMatrix) else bool(np.any(outputs))

    if freeze != "outputs":
        return
    tables = tables_of(model)
    if not any(is_trained(each) for each in (tables.outputs, tables.nodes) if each is not None):
        raise ValueError(
            f"{freeze=} leaves nothing to learn, because all output vectors are zeros, as in a new model; train the "
            "model without freeze first"
        )


def _begin(model: Word2Vec, compute_loss: bool, callbacks: Sequence[Any]) -> None:
    model.add_lifecycle_event(
        "train",
        msg=(
            f"training model with {model.workers} workers on {len(model.wv)} vocabulary and "
            f"{model.layer1_size} features, using sg={model.sg} hs={model.hs} sample={model.sample} "
            f"negative={model.negative} window={model.window} shrink_windows={model.shrink_windows} "
            f"optimizer={model.optimizer}"
        ),
    )
    model.weights = None  # they hold for one training
    model.compute_loss = compute_loss
    model.running_training_loss = 0.0
    model.epoch_losses = []
    record_validation(model, {})
    for callback in callbacks:
        callback.on_train_begin(model)
    if callbacks:  # they may have changed the model
        check_fits(model)


def _end(
    model: Word2Vec, of_epochs: Sequence[EpochCounts], seconds: float, callbacks: Sequence[Any]
) -> tuple[int, int]:
    """Record that training has ended, call the callbacks, and return the trained and the raw words."""
    trained_words = sum(counts.trained_words for counts in of_epochs)
    raw_words = sum(counts.raw_words for counts in of_epochs)
    model._log_train_end(raw_words, trained_words, seconds, sum(counts.blocks for counts in of_epochs))
    model.train_count += 1
    for callback in callbacks:
        callback.on_train_end(model)
    return trained_words, raw_words


@contextmanager
def _set_for_this_training(model: Word2Vec, arguments: TrainArguments) -> Iterator[None]:
    """Give the model the settings that `train()` was given, and its own ones back at the end."""
    given = {name: value for name in _FOR_ONE_TRAINING if (value := getattr(arguments, name)) is not None}
    before = {name: getattr(model, name) for name in given}
    vars(model).update(given)
    try:
        yield
    finally:
        vars(model).update(before)


@contextmanager
def _settings_kept_if_it_fails(model: Word2Vec) -> Iterator[None]:
    before = {name: getattr(model, name) for name in ("alpha", "min_alpha", "epochs", "optimizer")}
    try:
        yield
    except Exception:
        vars(model).update(before)
        raise
