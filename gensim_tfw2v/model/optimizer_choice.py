"""A model with its vocabulary → the optimizer that trains it, if the user has named none."""

from __future__ import annotations

import logging

from gensim.models import Word2Vec

from gensim_tfw2v.blocks.batch_shape import is_flat
from gensim_tfw2v.blocks.sampling import kept_counts, word_counts
from gensim_tfw2v.placement.designs import DESIGNS
from gensim_tfw2v.steps.settings import ADAGRAD, SGD

logger = logging.getLogger(__name__)


def choose_optimizer(model: Word2Vec) -> str:
    """Return the optimizer with which vectors of a model's vocabulary score highest, among those it can train with.

    Adagrad moves a vector less the more it has been trained, which lets rare words learn from few occurrences. A flat
    vocabulary has no rare words.
    """
    if DESIGNS[model.distribution].why_not(vars(model) | {"optimizer": ADAGRAD}) is not None:
        chosen, reason = SGD, f"distribution={model.distribution!r} has no other"
    elif is_flat(kept_counts(word_counts(model.wv), None)):
        chosen, reason = SGD, "all words are about equally frequent"
    else:
        chosen, reason = ADAGRAD, "words differ in frequency, or are rare"
    logger.info("optimizer=%r, because %s", chosen, reason)
    return chosen
