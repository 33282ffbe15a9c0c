"""`tfw2v train`: trains a model on a corpus and writes it to disk."""

from __future__ import annotations

import argparse
import contextlib
import logging
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gensim_tfw2v.cli.errors import CommandError, refusing
from gensim_tfw2v.cli.inputs import (
    check_apart,
    check_corpus,
    check_documents_file,
    check_is_folder,
    check_score_files,
    open_corpus,
    open_documents,
    read_weights,
    text_errors_named,
)
from gensim_tfw2v.cli.train_arguments import DESCRIPTION, OF_MODEL, add_arguments, settings_of
from gensim_tfw2v.cli.walks import check_edges, walks_on
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.exposure import check_cluster
from gensim_tfw2v.files.formats import format_of
from gensim_tfw2v.files.models import check_writable, document_vectors, write_model
from gensim_tfw2v.placement.designs import check_design
from gensim_tfw2v.runtime.end_signals import end_as_interrupt
from gensim_tfw2v.tensorboard.event_files import check_logdir
from gensim_tfw2v.training.display import is_terminal
from gensim_tfw2v.training.early_stopping import to_lower

__all__ = ["DESCRIPTION", "add_arguments", "run"]  # what `main` calls

_LOG_FORMAT = "%(asctime)s : %(levelname)s : %(message)s"


@dataclass(frozen=True)
class _Trained:
    """A trained model, with the words and the seconds that its training took."""

    model: Any
    vocabulary: str  # where it came from
    raw_words: int
    trained_words: int
    seconds: float
    checkpoint: str | None = None  # from which this command resumed
    words_before: int = 0  # raw words that were trained before this command


def run(arguments: argparse.Namespace) -> None:
    """Train, write the model and print a summary. Wrong arguments raise an error before training."""
    if not arguments.negative and not arguments.hs:
        raise CommandError("--negative 0 and --hs 0 leave nothing to train: use negative samples, --hs 1 or both")
    from gensim_tfw2v.cli.beginning import check_beginning, overwrites_its_own

    check_is_folder("--cache-dir", arguments.cache_dir)
    check_is_folder("--tables-dir", arguments.tables_dir)
    check_beginning(arguments)
    check_corpus(arguments.corpus, arguments.column)
    check_edges(arguments)
    _check_class(arguments)
    check_apart(arguments.corpus, arguments.output)
    check_writable(arguments.output, arguments.force or overwrites_its_own(arguments))
    check_score_files("--log-", arguments.log_pairs, arguments.log_analogies)
    settings = settings_of(arguments)
    weights = read_weights(arguments.weights)
    if (log := settings["logdir"]) is not None:
        try:
            check_logdir(log.logdir)
        except OSError as error:
            raise CommandError(str(error.strerror)) from error
    file_format = arguments.format or format_of(arguments.output)
    if arguments.vectors_on_servers:
        _check_server_vectors(arguments, file_format)
    _check_exported(arguments, file_format)
    _check_together(arguments, settings, weights)
    shows_no_log = arguments.quiet or arguments.progress or is_terminal(sys.stderr)
    with contextlib.nullcontext() if shows_no_log else _log_lines():
        with contextlib.nullcontext() if arguments.checkpoint_dir is None else end_as_interrupt():
            trained = _train(arguments, settings, weights)  # which writes a last checkpoint if it is interrupted
        _write(trained.model, arguments, file_format)
        trained.model.free_server_vectors()
    if not arguments.quiet:
        print(_summary(trained, arguments.output, file_format))


def _check_class(arguments: argparse.Namespace) -> None:
    if not arguments.documents:
        if arguments.tags:
            raise CommandError("--tags is for --documents; leave it out")
        return
    for name in ("subwords", "edges"):
        if getattr(arguments, name):
            raise CommandError(f"--documents does not go with --{name}; leave one of them out")
    check_documents_file(arguments.corpus)


def _write(model: Any, arguments: argparse.Namespace, file_format: str) -> None:
    if not arguments.documents or file_format == "gensim":
        write_model(model, arguments.output, file_format)
        return
    from gensim_tfw2v.files.vectors import write_vectors

    write_vectors(document_vectors(model), arguments.output, file_format)


def _check_server_vectors(arguments: argparse.Namespace, file_format: str) -> None:
    if arguments.cluster is None:
        raise CommandError("--vectors-on-servers needs a --cluster")
    if arguments.logdir is not None:
        raise CommandError("--vectors-on-servers does not go with --logdir, which needs copies of the vectors")
    if file_format == "gensim":
        raise CommandError(
            f"--vectors-on-servers cannot write a whole model, as output {str(arguments.output)!r} asks for; "
            "name a .kv, .bin or .txt file, or give --format"
        )


def _check_exported(arguments: argparse.Namespace, file_format: str) -> None:
    """Raise an error for an output that `write_vectors` would refuse after training, where it writes the output."""
    if file_format != "gensim" and (arguments.documents or arguments.tables_dir or arguments.vectors_on_servers):
        from gensim_tfw2v.files.vectors import vector_format_of

        vector_format_of(arguments.output, file_format)


def _check_together(arguments: argparse.Namespace, settings: Mapping[str, Any], weights: Any) -> None:
    """Raise an error for settings that do not go together, which the class would find after the words are counted."""
    has_cluster = arguments.cluster is not None
    with refusing(ValueError, ClusterError):
        if has_cluster:
            check_cluster(settings["cluster"], arguments.allow_network)
        from gensim_tfw2v.model.checks import check_validation, check_weights_fit  # which imports gensim

        check_design({**settings, "weights": weights, "bags": arguments.subwords}, has_cluster)
        if arguments.documents:
            from gensim_tfw2v.model.documents import check_documents

            check_documents(settings)
        check_validation({**settings, "corpus_file": str(arguments.corpus)})
        check_weights_fit(weights, **open_corpus(arguments.corpus, arguments.column))


def _corpus(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return CORPUS as an argument of build_vocab and train."""
    if arguments.edges:
        return {"corpus_iterable": walks_on(arguments.corpus, arguments)}
    if arguments.documents:
        return open_documents(arguments.corpus, arguments.tags)
    return open_corpus(arguments.corpus, arguments.column)


def _check_probes(words: list[str] | None, vectors: Any) -> None:
    unknown = next((word for word in words or () if word not in vectors), None)
    if unknown is not None:
        raise CommandError(f"--log-probe {unknown!r} is not a word of the vocabulary")


def _counted(arguments: argparse.Namespace, settings: dict[str, Any], corpus: dict[str, Any]) -> tuple[Any, int, int]:
    """Return a model with its vocabulary, and the raw words and the sentences of the corpus."""
    from gensim_tfw2v.cli.beginning import model_class, saved_model

    if arguments.start is None:
        model = model_class(arguments)(**settings)
        model.build_vocab(**corpus)
        return model, model.corpus_total_words, model.corpus_count
    model = saved_model(arguments, settings)
    if arguments.documents:  # counting them would replace the model's tags
        from gensim_tfw2v.model.documents import size_of_documents

        return model, *size_of_documents(**corpus)
    words, sentences = model.scan_vocab(**corpus)  # which do not change the model's vocabulary
    model.raw_vocab = defaultdict(int)  # as after build_vocab
    return model, words, sentences


def _train(arguments: argparse.Namespace, settings: dict[str, Any], weights: Any) -> _Trained:
    from gensim_tfw2v.cli.beginning import prepare_folder

    corpus = _corpus(arguments)
    prepare_folder(arguments)
    if arguments.resume and (found := _resumed(arguments, settings, corpus, weights)) is not None:
        return found
    started = time.perf_counter()
    with text_errors_named(arguments.corpus):
        model, words, sentences = _counted(arguments, settings, corpus)
        if not len(model.wv):
            named, least = f"corpus {str(arguments.corpus)!r}", f"--min-count {arguments.min_count}"
            if not words:
                raise CommandError(f"{named} holds no words")
            raise CommandError(f"no word of {named} occurs {least} times; lower --min-count")
        _check_probes(arguments.log_probe, model.wv)
        counted = time.perf_counter()
        totals = {"total_examples": sentences, "total_words": words, "epochs": model.epochs}
        trained_words, raw_words = model.train(**corpus, **totals, compute_loss=model.compute_loss, weights=weights)
    vocabulary = f"found in {counted - started:.1f} s"
    return _Trained(model, vocabulary, raw_words, trained_words, time.perf_counter() - counted)


def _resumed(
    arguments: argparse.Namespace, settings: dict[str, Any], corpus: dict[str, Any], weights: Any
) -> _Trained | None:
    """Return the model of a training that resumed from its newest checkpoint, None if there is none."""
    from gensim_tfw2v.cli.beginning import checkpoint_of, model_class, refusals
    from gensim_tfw2v.corpus.passes import OtherCorpusError
    from gensim_tfw2v.model.resuming import MAY_CHANGE, arguments_to_resume, check_settings, resumed_model
    from gensim_tfw2v.training.state import state_in

    found = checkpoint_of(arguments)
    if found is None:
        return None
    state = state_in(found)
    if arguments.start is not None:  # the checkpoint has the model's settings
        settings = {name: value for name, value in settings.items() if name not in OF_MODEL}
    changes = {name: value for name, value in settings.items() if name in MAY_CHANGE}
    with refusals(arguments):
        check_settings(settings, found)
        model, checkpoint = resumed_model(model_class(arguments), found.path, settings["epochs"], changes)
    _check_probes(arguments.log_probe, model.wv)
    started = time.perf_counter()
    before = state.raw_words()
    trained_words, raw_words = state.trained_words(), before
    if checkpoint is not None:
        named = f"corpus {str(arguments.corpus)!r}: "
        with refusing(OtherCorpusError, prefix=named), text_errors_named(arguments.corpus):
            totals = arguments_to_resume(model, checkpoint)
            trained_words, raw_words = model.train(**corpus, **totals, weights=weights)
    seconds = time.perf_counter() - started
    return _Trained(model, "from the checkpoint", raw_words, trained_words, seconds, found.path.name, before)


@contextlib.contextmanager
def _log_lines() -> Iterator[None]:
    """Show the log of gensim and of this package on stderr meanwhile."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(_LOG_FORMAT))
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


def _summary(trained: _Trained, output: Path, file_format: str) -> str:
    model, losses = trained.model, trained.model.epoch_losses
    words = f"{trained.raw_words:,} words ({trained.trained_words:,} after subsampling)"
    lines = [
        f"vocabulary  {len(model.wv):,} words, {trained.vocabulary}",
        *([f"documents   {len(model.dv):,} tags"] if hasattr(model, "dv") else []),
        f"trained on  {words}, {model.epochs} epochs, {_time_taken(trained)}",
    ]
    if losses:
        lines.append(f"loss        {losses[0]:.4f} in the first epoch, {losses[-1]:.4f} in the last")
    if model.validation_losses:
        lines.append(f"validation  {_validated(model)}")
    lines.append(f"model       {output} ({file_format}, {model.vector_size} dimensions)")
    return "\n".join(lines)


def _validated(model: Any) -> str:
    """Return what was measured after the last epoch, and after the one whose vectors are written."""
    of_epochs = {"loss": model.validation_losses, **model.validation_scores}

    def after(epoch: int) -> str:
        return ", ".join(f"{name} {values[epoch]:.4f}" for name, values in of_epochs.items())

    last = f"{after(-1)} after the last epoch"
    metric, stopping = model.validation_metric, model.early_stopping
    best = None if stopping is None else stopping.best(to_lower(metric, of_epochs[metric]))
    if best is None or best + 1 == len(model.validation_losses):
        return last
    return f"{after(best)} after epoch {best + 1}, whose vectors are written; {last}"


def _time_taken(trained: _Trained) -> str:
    words = trained.raw_words - trained.words_before
    took = f"in {trained.seconds:.1f} s ({words / max(trained.seconds, 1e-9):,.0f} words/s)"
    if trained.checkpoint is None:
        return took
    return f"{words:,} words since {trained.checkpoint}, {took}" if words else "before this command"
