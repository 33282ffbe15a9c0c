"""One call of `train()`: gensim's checks and records, with the training loop between them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from timeit import default_timer
from typing import Any

from gensim.models import Word2Vec

from gensim_tfw2v.corpus.shards import is_encoded
from gensim_tfw2v.model.arguments import TRAINING_ARGUMENTS, plain_arguments
from gensim_tfw2v.model.consistency import check_fits
from gensim_tfw2v.model.corpus_reading import Corpus, ReadingOptions, check_holds_words
from gensim_tfw2v.model.freezing import check_can_learn, frozen_in_training
from gensim_tfw2v.model.optimizer_choice import choose_optimizer
from gensim_tfw2v.model.resuming import where_to_begin
from gensim_tfw2v.model.server_vectors import check_server_states, check_server_vectors
from gensim_tfw2v.model.trained_word2vec import TrainedWord2Vec, record_validation
from gensim_tfw2v.model.training_plan import choices_for, fall_within_epoch, placement_for, plan_for
from gensim_tfw2v.model.validation import check_validation, hold_out_for, validation_for
from gensim_tfw2v.model.weighting import check_weights_fit, weights_in_training
from gensim_tfw2v.placement.designs import Place, check_design, check_reproducible
from gensim_tfw2v.placement.device import check_device
from gensim_tfw2v.runtime.devices import find_device
from gensim_tfw2v.runtime.tensorflow import check_runs_at_once, is_tensorflow_loaded
from gensim_tfw2v.tensorboard.model_log import HYPERPARAMETERS, check_log, start_log
from gensim_tfw2v.tensorboard.options import LogDir, TensorBoardLog, log_options
from gensim_tfw2v.training.display import shown_while, wants_bar
from gensim_tfw2v.training.log import StartLog
from gensim_tfw2v.training.loop import TrainingCall, TrainingLoop
from gensim_tfw2v.training.progress import EpochCounts
from gensim_tfw2v.training.resuming import Beginning, ResumeFrom


@dataclass(frozen=True, kw_only=True)
class TrainArguments:
    """The arguments of one call of `train()`, under their names."""

    corpus: Corpus
    weights: Any
    total_examples: int | None
    total_words: int | None
    epochs: int | None
    start_alpha: float | None
    end_alpha: float | None
    report_delay: float
    compute_loss: bool
    callbacks: Iterable[Any]
    logdir: LogDir
    cluster: Any
    freeze: str | None
    resume: ResumeFrom
    validation: Any
    early_stopping: Any

    @classmethod
    def of_call(cls, variables: Mapping[str, Any]) -> TrainArguments:
        """Return the arguments among the local variables of the class's `train()`, without those of no effect."""
        corpus = Corpus(variables["corpus_iterable"], variables["corpus_file"])
        others = (field.name for field in fields(cls) if field.name != "corpus")
        return cls(corpus=corpus, **{name: variables[name] for name in others})


def train(model: Word2Vec, arguments: TrainArguments) -> tuple[int, int]:
    """Train a model; return the number of trained words and of raw words, over all epochs."""
    arguments = _completed(model, arguments)
    callbacks = list(arguments.callbacks)
    with _settings_kept_if_it_fails(model), ExitStack() as cleanup:
        model.alpha = arguments.start_alpha or model.alpha
        model.min_alpha = arguments.end_alpha or model.min_alpha
        model.epochs = arguments.epochs  # gensim's own check needs a number
        _check_can_train(model, arguments)
        beginning = cleanup.enter_context(
            where_to_begin(
                model,
                arguments.resume,
                arguments.total_examples,
                arguments.total_words,
                arguments.freeze,
                has_weights=arguments.corpus.weights is not None,
            )
        )
        if model.optimizer is None:
            model.optimizer = choose_optimizer(model)
        if beginning.state is None:
            check_can_learn(model, arguments.freeze)
            check_server_states(model)
        _begin(model, arguments.compute_loss, callbacks)
        start = default_timer() - 0.00001
        of_epochs = _loop(model, arguments, callbacks, beginning).run()
    return _end(model, of_epochs, default_timer() - start, callbacks)


def _completed(model: Word2Vec, arguments: TrainArguments) -> TrainArguments:
    """Return the arguments, checked, with the model's own values where `train()` was given none."""
    rates = plain_arguments({"start_alpha": arguments.start_alpha, "end_alpha": arguments.end_alpha})
    vars(model).update(plain_arguments({name: getattr(model, name) for name in TRAINING_ARGUMENTS}))
    log = log_options(model.logdir if arguments.logdir is None else arguments.logdir)
    check_log(log)
    cluster = model.cluster if arguments.cluster is None else arguments.cluster
    check_server_vectors(model.vectors_on_servers, cluster, log)
    freeze = frozen_in_training(model, arguments.freeze)
    weights = weights_in_training(model, arguments.weights, arguments.total_examples)
    corpus = replace(arguments.corpus, weights=weights)
    check_weights_fit(weights, corpus.sentences, corpus.file)
    check_design({**vars(model), "freeze": freeze, "weights": weights}, has_cluster=cluster is not None)
    check_device(vars(model), has_cluster=cluster is not None)
    check_reproducible(vars(model), Place.HERE if cluster is None else Place.CLUSTER)
    own = {name: getattr(arguments, name) for name in ("validation", "early_stopping")}
    own = plain_arguments({name: getattr(model, name) if value is None else value for name, value in own.items()})
    check_validation(vars(model) | own | {"corpus_file": arguments.corpus.file})
    return replace(arguments, corpus=corpus, logdir=log, cluster=cluster, freeze=freeze, **rates, **own)


def _check_can_train(model: Word2Vec, arguments: TrainArguments) -> None:
    """Raise an error if training cannot begin with this model and these arguments."""
    sentences, file = arguments.corpus.sentences, arguments.corpus.file
    total_examples, total_words = arguments.total_examples, arguments.total_words
    if not len(model.wv) and file is not None and os.path.isfile(file):
        check_holds_words(file, model.column)
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


def _begin(model: Word2Vec, compute_loss: bool, callbacks: Sequence[Any]) -> None:
    """Record that training begins, reset losses, and call the callbacks."""
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


def _loop(model: Word2Vec, arguments: TrainArguments, callbacks: Sequence[Any], beginning: Beginning) -> TrainingLoop:
    """Return the loop that trains the model, whose cluster is connected."""
    corpus, total_words, cluster = arguments.corpus, arguments.total_words, arguments.cluster
    begun_with = None if beginning.state is None else beginning.state.choices
    reads_itself = corpus.file is not None and is_encoded(corpus.file)
    connect = partial(placement_for, model, cluster, total_words, begun_with, reads_itself)
    with shown_while("connecting to the cluster", wants_bar(model.progress) and cluster is not None):
        choice = connect()
    # gensim's constructor gives the model's own `min_alpha` as `end_alpha`.
    end_is_chosen = model._is_constructed and bool(arguments.end_alpha)
    fall = fall_within_epoch(model, from_file=corpus.file is not None, end_is_chosen=end_is_chosen)
    choices = begun_with or choices_for(
        model,
        choice,
        arguments.total_examples,
        total_words,
        fall,
        arguments.freeze,
        weighted=corpus.weights is not None,
        first_pass=corpus.next_pass,
    )
    held_out = hold_out_for(arguments.validation, choices.entropy)
    source = model._reader.source(
        corpus,
        model.wv,
        ReadingOptions.of(model),
        choices.block_words,
        total_words or model.corpus_total_words or 0,
        is_read_again=model.epochs != 1 or held_out is not None,
        held_out=held_out,
        first_pass=choices.first_pass,
    )
    is_read_now = arguments.validation is not None
    with shown_while("reading the validation sentences", wants_bar(model.progress) and is_read_now):
        validation = validation_for(
            model, arguments.validation, arguments.early_stopping, source, choices.entropy, beginning
        )
    if begun_with is None:
        choices = choices.without(*validation.held_out())
    call = TrainingCall(
        callbacks=callbacks,
        start_log=_log_starter(model, log_options(arguments.logdir)),
        draws_bar=wants_bar(model.progress),
        report_delay=arguments.report_delay,
        from_file=corpus.file is not None,
        checkpoint_every=model.checkpoint_every,
        connect=connect,
        beginning=beginning,
        validation=validation,
    )
    return TrainingLoop(TrainedWord2Vec(model), plan_for(model, choice, choices), source, call)


def _log_starter(model: Word2Vec, options: TensorBoardLog | None) -> StartLog | None:
    """Return the function that starts the log of a training, None for no log."""
    if options is None:
        return None
    return partial(start_log, options, model.wv, {name: getattr(model, name) for name in HYPERPARAMETERS})


def _end(
    model: Word2Vec, of_epochs: Sequence[EpochCounts], seconds: float, callbacks: Sequence[Any]
) -> tuple[int, int]:
    """Record that training has ended, call the callbacks, and return the trained and the raw words."""
    trained_words = sum(counts.trained_words for counts in of_epochs)
    raw_words = sum(counts.raw_words for counts in of_epochs)
    model._log_train_end(raw_words, trained_words, seconds, sum(counts.blocks for counts in of_epochs))
    model.train_count += 1
    model._clear_post_train()
    for callback in callbacks:
        callback.on_train_end(model)
    return trained_words, raw_words


@contextmanager
def _settings_kept_if_it_fails(model: Word2Vec) -> Iterator[None]:
    """Restore the settings of a model that `train()` has overwritten if an error is raised."""
    before = {name: getattr(model, name) for name in ("alpha", "min_alpha", "epochs", "optimizer")}
    try:
        yield
    except Exception:
        vars(model).update(before)
        raise
