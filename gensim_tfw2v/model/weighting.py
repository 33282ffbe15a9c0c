"""Weights of sentences: whether a training can use them."""

from __future__ import annotations

import os
from typing import Any

from gensim.models import Word2Vec

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.corpus.sentence_weights import sentence_weights, wrong_number_of_weights


def weights_in_training(model: Word2Vec, given: Any, total_examples: int | None) -> Float32Array | None:
    """Return the weights that `train()` was given, or else those of the model, which then has none for other trainings.

    Raise ValueError if there are more or fewer than there are sentences, as far as their number is known.
    """
    of_model, model.weights = model.weights, None
    weights = sentence_weights(of_model if given is None else given)
    if weights is not None and total_examples is not None and len(weights) != total_examples:
        raise wrong_number_of_weights(len(weights), f"the corpus has {total_examples} sentences (total_examples)")
    return weights


def check_weights_have_sentences(weights: Any, sentences: Any, corpus_file: Any) -> None:
    """Raise ValueError if there are weights and no iterable of sentences that they belong to."""
    if weights is None or sentences is not None:
        return
    if corpus_file is not None:
        raise ValueError(
            f"weights belong to an iterable of sentences, and the corpus is the file {os.fspath(corpus_file)!r}; pass "
            "LineSentence(...) of gensim.models.word2vec as sentences, or leave weights out"
        )
    raise ValueError("weights belong to sentences, and sentences is None; give weights to train() with its sentences")
