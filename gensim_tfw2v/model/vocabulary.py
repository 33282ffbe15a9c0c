"""A corpus → a model's vocabulary, with the tables that sampling and the Huffman tree need."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from gensim.models import KeyedVectors, Word2Vec

from gensim_tfw2v import tuning
from gensim_tfw2v.blocks.huffman import build_huffman_tree, has_random_ties
from gensim_tfw2v.blocks.sampling import cumulative_table, word_counts
from gensim_tfw2v.corpus.shards import is_encoded
from gensim_tfw2v.model.corpus_reading import RawVocabulary, ReadingOptions, in_parts, sentences_in, shown_sentences
from gensim_tfw2v.model.training_plan import entropy_of
from gensim_tfw2v.runtime.tensorflow import import_ahead

logger = logging.getLogger(__name__)


def quickly_counted(
    model: Word2Vec, corpus_iterable: Any, corpus_file: str | None, progress_per: int, workers: int | None
) -> RawVocabulary | None:
    """Return the words of a corpus, counted faster than by gensim; None where gensim must count.

    Pruning by ``max_vocab_size`` depends on the order of the words, so gensim's loop must count them.
    """
    found: RawVocabulary | None = None
    if corpus_file is None:
        if corpus_iterable is not None and not model.max_vocab_size:
            options, is_trained_next = ReadingOptions.of(model), not model._is_constructed
            found = model._reader.count_sentences(corpus_iterable, options, progress_per, is_trained_next)
    elif is_encoded(corpus_file):
        found = model._reader.count_encoded(corpus_file, model.max_vocab_size)
    elif not model.max_vocab_size:
        found = model._reader.count_file(corpus_file, ReadingOptions.of(model, workers))
    return found


def sentences_for_gensim(
    model: Word2Vec, corpus_iterable: Iterable[Sequence[Any]] | None, corpus_file: str | None
) -> Iterable[Any] | None:
    """Return the sentences of a corpus for gensim to count; None if there is no corpus."""
    if corpus_file is not None:
        return sentences_in(corpus_file, model.column)
    if corpus_iterable is not None:
        parts, draws_bar = in_parts(corpus_iterable, model.column), ReadingOptions.of(model).draws_bar
        return shown_sentences(corpus_iterable if parts is None else parts, draws_bar)
    return None


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
