"""`tfw2v train`: trains a model on a corpus and writes it to disk."""

from __future__ import annotations

import argparse
import contextlib
import logging
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gensim_tfw2v.cli import saved_model
from gensim_tfw2v.cli.checkpoints import (
    check_flags,
    checkpoint_of,
    overwrites_its_own,
    prepare_folder,
    refusals,
)
from gensim_tfw2v.cli.corpora import check_apart, check_corpus, open_corpus, text_errors_named
from gensim_tfw2v.cli.errors import CommandError
from gensim_tfw2v.cli.score_files import check_score_files
from gensim_tfw2v.cli.train_arguments import default_settings, settings_of
from gensim_tfw2v.cli.walk_arguments import check_no_flags, walks_on
from gensim_tfw2v.cli.weights import read_weights
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.exposure import check_cluster
from gensim_tfw2v.files.formats import format_of
from gensim_tfw2v.files.models import check_writable, write_model
from gensim_tfw2v.placement.designs import check_design
from gensim_tfw2v.runtime.end_signals import end_as_interrupt
from gensim_tfw2v.tensorboard.event_file import check_logdir
from gensim_tfw2v.training.display import is_terminal
from gensim_tfw2v.training.early_stopping import to_lower

LOG_FORMAT = "%(asctime)s : %(levelname)s : %(message)s"


@dataclass(frozen=True)
class ResumedPart:
    """What a command that resumed from a checkpoint has trained."""

    checkpoint: str
    raw_words: int


@dataclass(frozen=True)
class Trained:
    """A trained model, with the time and the words that its training took."""

    model: Any
    vocabulary_seconds: float | None  # None if the vocabulary came from a checkpoint
    training_seconds: float
    raw_words: int
    trained_words: int
    resumed: ResumedPart | None = None


def run(arguments: argparse.Namespace) -> None:
    """Train, write the model and print a summary. Wrong arguments raise an error before training."""
    if not arguments.negative and not arguments.hs:
        raise CommandError("--negative 0 and --hs 0 leave nothing to train: use negative samples, --hs 1 or both")
    if arguments.cache_dir is not None and not Path(arguments.cache_dir).is_dir():
        raise CommandError(f"--cache-dir {arguments.cache_dir!r} is not a folder")
    check_flags(arguments)
    saved_model.check_flags(arguments)
    check_corpus(arguments.corpus, arguments.column)
    if not arguments.edges:
        check_no_flags(arguments)
    elif not arguments.corpus.is_file():
        raise CommandError(f"--edges needs a file of edges, and corpus {str(arguments.corpus)!r} is a folder")
    check_apart(arguments.corpus, arguments.output)
    check_writable(arguments.output, arguments.force or overwrites_its_own(arguments))
    check_score_files({"--log-pairs": arguments.log_pairs}, {"--log-analogies": arguments.log_analogies})
    settings = settings_of(arguments)
    weights = read_weights(arguments.weights)
    log = settings["logdir"]
    try:
        if log is not None:
            check_logdir(log.logdir)
    except OSError as error:
        raise CommandError(str(error.strerror)) from error
    file_format = arguments.format or format_of(arguments.output)
    if arguments.vectors_on_servers:
        _check_server_vectors(arguments, file_format)
    if arguments.cluster is not None:
        _check_cluster(settings["cluster"], arguments.allow_network)
    from gensim_tfw2v.model.checks import check_validation, check_weights_fit  # which imports gensim

    try:
        check_design({**settings, "weights": weights}, has_cluster=arguments.cluster is not None)
        check_validation({**settings, "corpus_file": str(arguments.corpus)})
        check_weights_fit(weights, **open_corpus(arguments.corpus, arguments.column))
    except ValueError as error:
        raise CommandError(str(error)) from error
    with _log_lines(wanted=not (arguments.quiet or arguments.progress or is_terminal(sys.stderr))):
        with contextlib.nullcontext() if arguments.checkpoint_dir is None else end_as_interrupt():
            trained = _train(arguments, weights)  # which writes a last checkpoint if it is interrupted
        write_model(trained.model, arguments.output, file_format)
        trained.model.free_server_vectors()
    if not arguments.quiet:
        print(_summary(trained, arguments.output, file_format))


def _check_server_vectors(arguments: argparse.Namespace, file_format: str) -> None:
    """Raise an error if the other arguments do not allow the vectors to stay on the servers."""
    if arguments.cluster is None:
        raise CommandError("--vectors-on-servers needs a --cluster")
    if arguments.logdir is not None:
        raise CommandError("--vectors-on-servers does not go with --logdir, which needs copies of the vectors")
    if file_format == "gensim":
        raise CommandError(
            f"--vectors-on-servers cannot write a whole model, as output {str(arguments.output)!r} asks for; "
            "name a .kv, .bin or .txt file, or give --format"
        )


def _check_cluster(cluster: Any, allow_network: bool) -> None:
    """Raise an error if this is no cluster, or is on a network and none is allowed."""
    try:
        check_cluster(cluster, allow_network)
    except (ValueError, ClusterError) as error:
        raise CommandError(str(error)) from error


def _check_probes(words: list[str] | None, vectors: Any) -> None:
    """Raise an error that names the first probe word without a vector."""
    unknown = next((word for word in words or () if word not in vectors), None)
    if unknown is not None:
        raise CommandError(f"--log-probe {unknown!r} is not a word of the vocabulary")


def _counted(arguments: argparse.Namespace, corpus: dict[str, Any]) -> tuple[Any, int, int]:
    """Return a model with its vocabulary, and the raw words and the sentences of the corpus."""
    from gensim_tfw2v import TFWord2Vec

    if arguments.start is not None:
        model = saved_model.opened_model(arguments.start, settings_of(arguments), default_settings())
        return model, *saved_model.count_corpus(model, corpus)
    model = TFWord2Vec(**settings_of(arguments))
    model.build_vocab(**corpus)
    return model, model.corpus_total_words, model.corpus_count


def _train(arguments: argparse.Namespace, weights: Any) -> Trained:
    if arguments.edges:
        corpus = {"corpus_iterable": walks_on(arguments.corpus, arguments)}
    else:
        corpus = open_corpus(arguments.corpus, arguments.column)
    prepare_folder(arguments)
    if arguments.resume and (found := _resumed(arguments, corpus, weights)) is not None:
        return found
    started = time.perf_counter()
    with text_errors_named(arguments.corpus):
        model, total_words, total_examples = _counted(arguments, corpus)
        if not len(model.wv):
            raise CommandError(_no_words(arguments, total_words))
        _check_probes(arguments.log_probe, model.wv)
        counted = time.perf_counter()
        trained_words, raw_words = model.train(
            **corpus,
            total_examples=total_examples,
            total_words=total_words,
            epochs=model.epochs,
            compute_loss=model.compute_loss,
            weights=weights,
        )
    vocabulary_seconds, training_seconds = counted - started, time.perf_counter() - counted
    return Trained(model, vocabulary_seconds, training_seconds, raw_words, trained_words)


def _resumed(arguments: argparse.Namespace, corpus: dict[str, Any], weights: Any) -> Trained | None:
    """Return the model of a training that resumed from its newest checkpoint, None if there is none."""
    from gensim_tfw2v import TFWord2Vec
    from gensim_tfw2v.corpus.passes import OtherCorpusError
    from gensim_tfw2v.model.resuming import MAY_CHANGE, arguments_to_resume, check_settings, resumed_model
    from gensim_tfw2v.training.state import state_in

    found = checkpoint_of(arguments)
    if found is None:
        return None
    settings, state = settings_of(arguments), state_in(found)
    if arguments.start is not None:  # the checkpoint has the model's settings
        settings = {name: value for name, value in settings.items() if name not in saved_model.OF_MODEL}
    changes = {name: value for name, value in settings.items() if name in MAY_CHANGE}
    with refusals(arguments):
        check_settings(settings, found)
        model, checkpoint = resumed_model(TFWord2Vec, found.path, arguments.epochs, changes)
    _check_probes(arguments.log_probe, model.wv)
    started = time.perf_counter()
    trained_words, raw_words = state.trained_words(), state.raw_words()
    if checkpoint is not None:
        try:
            with text_errors_named(arguments.corpus):
                totals = arguments_to_resume(model, checkpoint)
                trained_words, raw_words = model.train(**corpus, **totals, weights=weights)
        except OtherCorpusError as error:
            raise CommandError(f"corpus {str(arguments.corpus)!r}: {error}") from error
    part = ResumedPart(found.path.name, raw_words - state.raw_words())
    return Trained(model, None, time.perf_counter() - started, raw_words, trained_words, part)


def _no_words(arguments: argparse.Namespace, words: int) -> str:
    corpus = str(arguments.corpus)
    if not words:
        return f"corpus {corpus!r} holds no words"
    return f"no word of corpus {corpus!r} occurs --min-count {arguments.min_count} times; lower --min-count"


@contextlib.contextmanager
def _log_lines(wanted: bool) -> Iterator[None]:
    """Show the log of gensim and of this package on stderr meanwhile, if wanted."""
    if not wanted:
        yield
        return
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(LOG_FORMAT))
    loggers = [logging.getLogger(name) for name in ("gensim", "gensim_tfw2v")]
    before = [(logger, logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False  # a library that is imported may add a handler to the root logger
    try:
        yield
    finally:
        for logger, level, propagates in before:
            logger.removeHandler(handler)
            logger.setLevel(level)
            logger.propagate = propagates


def _summary(trained: Trained, output: Path, file_format: str) -> str:
    model, losses = trained.model, trained.model.epoch_losses
    found = "from the checkpoint"
    if trained.vocabulary_seconds is not None:
        found = f"found in {trained.vocabulary_seconds:.1f} s"
    lines = [
        f"vocabulary  {len(model.wv):,} words, {found}",
        f"trained on  {trained.raw_words:,} words ({trained.trained_words:,} after subsampling), "
        f"{model.epochs} epochs, {_time_taken(trained)}",
    ]
    if losses:
        lines.append(f"loss        {losses[0]:.4f} in the first epoch, {losses[-1]:.4f} in the last")
    if model.validation_losses:
        lines.append(_validated(model))
    lines.append(f"model       {output} ({file_format}, {model.vector_size} dimensions)")
    return "\n".join(lines)


def _validated(model: Any) -> str:
    """Return the line about what was measured after the last epoch, and after the one whose vectors are written."""
    of_epochs = {"loss": model.validation_losses, **model.validation_scores}
    last = f"{_values_after(of_epochs, -1)} after the last epoch"
    metric, stopping = model.validation_metric, model.early_stopping
    best = None if stopping is None else stopping.best(to_lower(metric, of_epochs[metric]))
    if best is None or best + 1 == len(model.validation_losses):
        return f"validation  {last}"
    return f"validation  {_values_after(of_epochs, best)} after epoch {best + 1}, whose vectors are written; {last}"


def _values_after(of_epochs: dict[str, list[float]], epoch: int) -> str:
    return ", ".join(f"{name} {values[epoch]:.4f}" for name, values in of_epochs.items())


def _time_taken(trained: Trained) -> str:
    words, resumed = trained.raw_words, trained.resumed
    if resumed is not None:
        words = resumed.raw_words
        if not words:
            return "before this command"
    took = f"in {trained.training_seconds:.1f} s ({words / max(trained.training_seconds, 1e-9):,.0f} words/s)"
    return took if resumed is None else f"{words:,} words since {resumed.checkpoint}, {took}"
