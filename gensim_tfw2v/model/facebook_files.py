"""A file of Facebook's fastText → a model, whose matrices are the file's own, without a copy."""

from __future__ import annotations

import logging
from typing import Any, TypeVar

import numpy as np
from gensim import utils
from gensim.models import FastText, _fasttext_bin, fasttext

from gensim_tfw2v.model.subwords import found_quickly
from gensim_tfw2v.steps.settings import SGD

logger = logging.getLogger(__name__)

_Model = TypeVar("_Model", bound=FastText)

_HIERARCHICAL, _SKIP_GRAM = 1, 2  # the file's numbers of a loss and of a model
_SETTINGS = {"vector_size": "dim", "window": "ws", "epochs": "epoch", "negative": "neg", "bucket": "bucket",
             "min_count": "min_count", "sample": "t", "min_n": "minn", "max_n": "maxn"}  # fmt: skip


def opened(cls: type[_Model], path: str, encoding: str) -> _Model:
    """Return the model in a file as `gensim.models.fasttext.load_facebook_model` does, to be trained on by SGD."""
    with utils.open(path, "rb") as file:
        found = _fasttext_bin.load(file, encoding=encoding)
    model: Any = cls(
        **{name: getattr(found, of_file) for name, of_file in _SETTINGS.items()},
        hs=int(found.loss == _HIERARCHICAL),
        sg=int(found.model == _SKIP_GRAM),
        optimizer=SGD,
    )
    if model.hs:
        logger.warning(
            "%s was trained by hierarchical softmax, and fastText's tree is not gensim's: use its vectors, but to "
            "train on, take a file of negative sampling",
            path,
        )
    model.corpus_total_words, model.raw_vocab = found.ntokens, found.raw_vocab
    model.nwords, model.vocab_size = found.nwords, found.vocab_size
    model.prepare_vocab(update=True, min_count=1)  # all of the file's words, as it has vectors for them
    words, rows = len(model.wv), len(found.vectors_ngrams)
    if rows != words + model.wv.bucket:
        raise ValueError(
            f"{path!r} has {rows} vectors for {words} words and {model.wv.bucket} n-grams; it is damaged, or not of "
            "fastText's unsupervised training"
        )
    model.num_original_vectors = rows
    model.wv.vectors_vocab, model.wv.vectors_ngrams = np.split(found.vectors_ngrams, [words])
    with found_quickly(model.wv):
        model.wv.recalc_char_ngram_buckets()
        model.wv.adjust_vectors()
    model._init_post_load(found.hidden_output)
    fasttext._check_model(model)
    model.add_lifecycle_event(
        "load_fasttext_format", msg=f"loaded {found.vectors_ngrams.shape} weight matrix for fastText model from {path}"
    )
    opened_model: _Model = model
    return opened_model
