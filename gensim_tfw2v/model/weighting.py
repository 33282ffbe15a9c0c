"""Weights of sentences: whether a training can use them."""

from __future__ import annotations

from typing import Any

from gensim.models import Word2Vec

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.corpus.sentence_weights import sentence_weights, wrong_number_of_weights
from gensim_tfw2v.corpus.shards import is_encoded


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
