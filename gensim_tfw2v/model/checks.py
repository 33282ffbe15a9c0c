"""Whether the arguments of the constructor and of `train()` can be used, each by itself and all together."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from gensim.models import Word2Vec

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.cluster.exposure import check_cluster
from gensim_tfw2v.corpus.sentence_batches import shown
from gensim_tfw2v.corpus.sentence_weights import sentence_weights, wrong_number_of_weights
from gensim_tfw2v.corpus.shards import is_encoded
from gensim_tfw2v.model.arguments import plain_arguments
from gensim_tfw2v.model.corpus_reading import check_column
from gensim_tfw2v.placement.designs import DEFAULT_DESIGN, Place, check_design, check_reproducible
from gensim_tfw2v.placement.device import check_device
from gensim_tfw2v.tensorboard.model_log import check_log
from gensim_tfw2v.tensorboard.options import log_options
from gensim_tfw2v.training.early_stopping import LOSS
from gensim_tfw2v.training.state import check_folder


def check_constructor(arguments: Mapping[str, Any]) -> None:
    """Raise an error that names the first argument of the constructor that cannot be used."""
    plain_arguments(arguments)
    check_log(log_options(arguments["logdir"]))
    check_folder(arguments["checkpoint_dir"])
    sentences = arguments["documents" if "documents" in arguments else "sentences"]
    corpus_file, cluster = arguments["corpus_file"], arguments["cluster"]
    check_corpus_types(sentences, corpus_file)
    check_weights_fit(arguments["weights"], sentences, corpus_file)
    check_column(arguments["column"], sentences, corpus_file)
    own = plain_arguments({name: arguments[name] for name in ("validation", "early_stopping")})
    check_together({**arguments, **own}, trains_later=sentences is None and corpus_file is None)
    if cluster is not None:
        check_cluster(cluster, arguments["allow_network"])


def check_together(arguments: Mapping[str, Any], trains_later: bool = False) -> None:
    """Raise an error if arguments do not fit each other, or a corpus is not there.

    A model that is trained later may get a cluster and validation sentences then.
    """
    _check_server_vectors(arguments)
    _check_tables_dir(arguments)
    check_validation(arguments, trains_later)
    on_cluster = arguments["cluster"] is not None
    check_design(arguments, has_cluster=trains_later or on_cluster)
    check_device(arguments, has_cluster=trains_later or on_cluster)
    check_reproducible(arguments, Place.CLUSTER if on_cluster else None if trains_later else Place.HERE)


def check_validation(arguments: Mapping[str, Any], trains_later: bool = False) -> None:
    """Raise an error if these arguments do not fit each other, or the validation corpus is not there.

    A model that is trained later may get its validation sentences then.
    """
    validation, stopping, metric = (arguments[name] for name in ("validation", "early_stopping", "validation_metric"))
    for name in ("early_stopping", "validation_every"):
        if arguments[name] is not None and validation is None and not trains_later:
            raise ValueError(
                f"{name}={arguments[name]!r} needs validation sentences, and validation is None; give validation=, "
                "such as 0.05"
            )
    if validation is not None and metric != LOSS and not arguments["negative"]:
        raise ValueError(
            f"validation_metric={metric!r} ranks words by their output vectors, which only negative sampling trains, "
            f"and negative is {arguments['negative']!r}"
        )
    if stopping is not None and arguments["vectors_on_servers"]:
        raise ValueError(
            "early_stopping keeps a copy of the best epoch's vectors here, and vectors_on_servers=True keeps them on "
            "the servers alone; leave one of them out (validation= alone works with both)"
        )
    corpus_file = arguments["corpus_file"]
    if isinstance(validation, float) and corpus_file is not None and is_encoded(corpus_file):
        raise ValueError(
            f"validation={validation} holds sentences of text out, and corpus_file {os.fspath(corpus_file)!r} is an "
            "encoded corpus; encode two corpora, and name the other one: validation='...'"
        )
    if isinstance(validation, str) and not (os.path.isfile(validation) or is_encoded(validation)):
        raise FileNotFoundError(f"validation {validation!r} is no file and no encoded corpus")


def _check_server_vectors(arguments: Mapping[str, Any]) -> None:
    logdir = arguments["logdir"]
    if not arguments["vectors_on_servers"]:
        return
    if arguments["bags"]:
        raise ValueError("vectors_on_servers=True does not go with words that have n-grams; leave it out")
    if arguments["cluster"] is None:
        raise ValueError("vectors_on_servers=True needs a cluster, and cluster is None; give cluster=, or leave it out")
    if logdir is not None:
        raise ValueError(
            "vectors_on_servers=True does not go with logdir, whose histograms and scores need a copy of the vectors; "
            f"leave one of them out (logdir is {logdir!r})"
        )


def _check_tables_dir(arguments: Mapping[str, Any]) -> None:
    if (folder := arguments["tables_dir"]) is None:
        return
    named = f"tables_dir={os.fspath(folder)!r}"
    if arguments["bags"]:
        raise ValueError(f"{named} does not go with words that have n-grams; leave it out, or train a TFWord2Vec")
    if arguments["cluster"] is not None:
        raise ValueError(
            f"{named} is for training in this process, and cluster is given; leave one of them out, or give "
            "vectors_on_servers=True in place of tables_dir: the servers then keep the vectors in their memory"
        )
    for name, value, alone in (
        ("distribution", arguments["distribution"], DEFAULT_DESIGN),
        ("early_stopping", arguments["early_stopping"], None),
        ("logdir", arguments["logdir"], None),
    ):
        if value != alone:
            raise ValueError(
                f"{named} does not go with {name}={value!r}, which needs copies of all vectors in memory; leave one of "
                "them out"
            )
    if (device := arguments["device"]) not in (None, "cpu"):
        raise ValueError(f"{named} trains on the CPU, and device is {device!r}; leave one of them out")
    if not os.path.isdir(folder):
        raise NotADirectoryError(f"{named} is not a folder; make it first, or name another one")


def weights_in_training(model: Word2Vec, given: Any, total_examples: int | None) -> Float32Array | None:
    """Return the weights that `train()` was given, or else those of the model.

    Raise ValueError if there are more or fewer than there are sentences, as far as their number is known.
    """
    weights = sentence_weights(model.weights if given is None else given)
    if weights is not None and total_examples is not None and len(weights) != total_examples:
        raise wrong_number_of_weights(len(weights), f"the corpus has {total_examples} sentences (total_examples)")
    return weights


def check_weights_fit(weights: Any, corpus_iterable: Any = None, corpus_file: Any = None) -> None:
    """Raise ValueError if there are weights without a corpus, or with one whose sentences cannot have any."""
    if weights is None or corpus_iterable is not None:
        return
    if corpus_file is None:
        raise ValueError("weights belong to a corpus, and there is none; give weights to train() with its corpus")
    if is_encoded(corpus_file):
        raise ValueError(
            f"weights belong to sentences of text, and corpus_file {str(corpus_file)!r} is an encoded corpus; train "
            "from the text, or leave weights out"
        )


def check_corpus_types(sentences: Any, corpus_file: Any) -> None:
    """Raise TypeError if a text or a path is given as sentences, whose letters would be words, or no path as a file."""
    if isinstance(sentences, str | bytes | os.PathLike):
        raise TypeError(
            f"sentences must be an iterable of lists of words, got {shown(sentences)}; give the name of a file as "
            "corpus_file=, and split a text into sentences and words"
        )
    if not (corpus_file is None or isinstance(corpus_file, str | os.PathLike)):
        raise TypeError(
            f"corpus_file must be a path, got {shown(corpus_file)}; give sentences as the first argument instead"
        )


def check_has_words(model: Word2Vec) -> None:
    """Raise RuntimeError if a corpus has been counted and no word of it is left in the vocabulary."""
    if not len(model.wv) and model.corpus_total_words:
        raise RuntimeError(
            "you must first build vocabulary before training the model: none of the corpus's "
            f"{model.corpus_total_words:,} words is left with min_count={model.min_count}; lower min_count, or train "
            "on more text"
        )
