"""A corpus → a model's vocabulary, with the tables that sampling and the Huffman tree need."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
from gensim.models import KeyedVectors, Word2Vec

from gensim_tfw2v import tuning
from gensim_tfw2v.blocks.huffman import build_huffman_tree, has_random_ties
from gensim_tfw2v.blocks.sampling import cumulative_table, word_counts
from gensim_tfw2v.model.choices import entropy_of
from gensim_tfw2v.runtime.tensorflow import import_ahead

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def set_quickly(keyed_vectors: KeyedVectors) -> Iterator[None]:
    """Make ``set_vecattr`` of these keyed vectors faster for words that have room in the attribute's array.

    gensim allocates room and compares types for every word, which takes much of the time of building a vocabulary.
    """
    if type(keyed_vectors).set_vecattr is not KeyedVectors.set_vecattr:  # a subclass's own method stays
        yield
        return
    carefully = keyed_vectors.set_vecattr
    kinds: dict[str, type] = {}  # types of values that attributes have had so far

    def set_vecattr(key: Any, attr: str, val: Any) -> None:
        place = keyed_vectors.key_to_index.get(key)
        if (
            place is not None
            and kinds.get(attr) is type(val)
            and len(keyed_vectors.expandos[attr]) == len(keyed_vectors.index_to_key)
        ):
            keyed_vectors.expandos[attr][place] = val
        else:
            carefully(key, attr, val)
            kinds[attr] = type(val)

    keyed_vectors.set_vecattr = set_vecattr
    try:
        yield
    finally:
        del keyed_vectors.set_vecattr


@contextlib.contextmanager
def without_positions(vectors: KeyedVectors) -> Iterator[None]:
    """Have keyed vectors find ints as words alone while a vocabulary grows.

    gensim takes an int that is no word as the position of another word, so it would count a new node as that word.
    """
    vectors.has_index_for = vectors.key_to_index.__contains__
    try:
        yield
    finally:
        del vectors.has_index_for


def begin_import_for_training(model: Word2Vec) -> None:
    """Begin to import TensorFlow before large matrices are made, if the model's constructor trains them.

    NumPy draws their random numbers without Python's lock.
    """
    if not model._is_constructed and len(model.wv) * model.vector_size >= tuning.LEAST_NUMBERS_FOR_IMPORT_AHEAD:
        import_ahead()


def set_cumulative_table(model: Word2Vec, domain: int) -> None:
    """Set ``cum_table``, which negatives are drawn from, as gensim's loop over all words would."""
    model.cum_table = cumulative_table(word_counts(model.wv), float(model.ns_exponent), domain)


def set_huffman_tree(model: Word2Vec) -> None:
    """Set the ``code`` and ``point`` of each word; a large vocabulary has words of equal count in random order."""
    words = len(model.wv)
    logger.info("constructing a huffman tree from %i words", words)
    order = np.arange(words)
    if has_random_ties(words):
        np.random.default_rng(entropy_of(model)).shuffle(order)
    tree = build_huffman_tree(word_counts(model.wv), order)
    tree.store(model.wv)
    logger.info("built huffman tree with maximum node depth %i", tree.path_lengths().max(initial=0))
