"""A model with its vocabulary → the optimizer that trains it, if the user has named none."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from gensim.models import Word2Vec

from gensim_tfw2v import tuning
from gensim_tfw2v.blocks.batch_shape import is_flat
from gensim_tfw2v.blocks.sampling import kept_counts, word_counts
from gensim_tfw2v.model.documents import concatenates, trains_skip_gram
from gensim_tfw2v.placement.designs import DESIGNS
from gensim_tfw2v.steps.settings import ADAGRAD, SGD

logger = logging.getLogger(__name__)


def choose_optimizer(model: Word2Vec) -> str:
    """Return the optimizer with which vectors of a model's vocabulary score highest, among those it can train with.

    That is Adagrad for text. Nodes of graphs and items of sessions score as high or higher with SGD, although nodes may
    be as unequally frequent as words. Their names have digits, or they are equally frequent. CBOW with a high learning
    rate, and contexts that are concatenated, score lower with Adagrad, whose first steps are 20 times as long as SGD's.
    """
    if DESIGNS[model.distribution].why_not(vars(model) | {"optimizer": ADAGRAD}) is not None:
        chosen, reason = SGD, f"distribution={model.distribution!r} has no other"
    elif is_flat(kept_counts(word_counts(model.wv), None)):
        chosen, reason = SGD, "all words are about equally frequent"
    elif concatenates(model):
        chosen, reason = SGD, "concatenated contexts learn less with Adagrad"
    elif _are_ids(model.wv.index_to_key):
        chosen, reason = SGD, "most words have digits, as ids of nodes and items do"
    elif not trains_skip_gram(model) and model.alpha > tuning.MOST_CBOW_ALPHA_FOR_ADAGRAD:
        chosen, reason = SGD, f"CBOW with alpha={model.alpha} learns no better with Adagrad"
    else:
        chosen, reason = ADAGRAD, "the words look like text"
    logger.info("optimizer=%r, because %s", chosen, reason)
    return chosen


def _are_ids(words: Sequence[Any]) -> bool:
    """Return whether most words are numbers or have a digit in them; of many words, some decide."""
    some = words[:: 1 + len(words) // tuning.WORDS_THAT_SAY_WHAT_THEY_ARE]
    return 2 * sum(not isinstance(word, str) or any(map(str.isdigit, word)) for word in some) > len(some)
