"""A model with its vocabulary → the optimizer that trains it, if the user has named none."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Any

from gensim.models import Word2Vec

from gensim_tfw2v import tuning
from gensim_tfw2v.blocks.batch_shape import is_flat
from gensim_tfw2v.blocks.sampling import kept_counts, word_counts
from gensim_tfw2v.model.documents import concatenates, has_documents, trains_skip_gram
from gensim_tfw2v.model.subwords import has_subwords
from gensim_tfw2v.placement.designs import DESIGNS
from gensim_tfw2v.steps.settings import ADAGRAD, SGD

logger = logging.getLogger(__name__)


def choose_optimizer(model: Word2Vec) -> str:
    """Return the optimizer with which vectors of a model's vocabulary score highest, among those it can train with.

    That is Adagrad for text. Nodes of graphs and items of sessions score as high or higher with SGD, although nodes may
    be as unequally frequent as words. Their names have digits, or they are equally frequent. CBOW with a high learning
    rate, contexts that are concatenated, and many epochs of a corpus that is not tiny score lower with Adagrad.
    """
    counts = word_counts(model.wv)
    if DESIGNS[model.distribution].why_not(vars(model) | {"optimizer": ADAGRAD}) is not None:
        chosen, reason = SGD, f"distribution={model.distribution!r} has no other"
    elif is_flat(kept_counts(counts, None)):
        chosen, reason = SGD, "all words are about equally frequent"
    elif concatenates(model):
        chosen, reason = SGD, "concatenated contexts learn less with Adagrad"
    elif _are_ids(model.wv.index_to_key):
        chosen, reason = SGD, "most words have digits, as ids of nodes and items do"
    elif not trains_skip_gram(model) and model.alpha > tuning.MOST_CBOW_ALPHA_FOR_ADAGRAD:
        chosen, reason = SGD, f"CBOW with alpha={model.alpha} learns no better with Adagrad"
    elif model.epochs >= _epochs_for_sgd(model) and _trains_many_words(model):
        chosen, reason = SGD, f"{model.epochs} epochs learn no better with Adagrad"
    else:
        chosen, reason = ADAGRAD, "the words look like text"
    logger.info("optimizer=%r, because %s", chosen, reason)
    return chosen


def first_state(model: Word2Vec) -> float:
    """Return Adagrad's state of rows that have not been trained, given the epochs of the training that begins.

    A row's first steps are 20 times as long as SGD's in one epoch, and 20 / E times in E epochs. In one epoch, rare
    words must learn from few steps. In many, long steps fit their vectors too closely to few contexts. Nodes of the
    Huffman tree, n-grams and documents, and tiny corpora, keep long steps.
    """
    if model.hs or has_documents(model) or has_subwords(model) or not _trains_many_words(model):
        return 0.0
    epochs = min(int(model.epochs), tuning.EPOCHS_FOR_SGD)
    return tuning.ADAGRAD_START * (epochs**2 - 1)


def _trains_many_words(model: Word2Vec) -> bool:
    """Return whether the epochs train so many words that a corpus does not count as tiny."""
    return bool(model.epochs * word_counts(model.wv).sum() >= tuning.LEAST_WORDS_FOR_SGD)


def _epochs_for_sgd(model: Word2Vec) -> float:
    """Return with how many epochs a model of text scores as high or higher with SGD."""
    if not has_documents(model):
        return tuning.EPOCHS_FOR_SGD
    return tuning.DBOW_EPOCHS_FOR_SGD if model.sg else math.inf


def _are_ids(words: Sequence[Any]) -> bool:
    """Return whether most words are numbers or have a digit in them; of many words, some decide."""
    some = words[:: 1 + len(words) // tuning.WORDS_THAT_SAY_WHAT_THEY_ARE]
    return 2 * sum(not isinstance(word, str) or any(map(str.isdigit, word)) for word in some) > len(some)
