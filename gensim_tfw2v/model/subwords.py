"""A FastText model's words as bags of rows: each word's own row and those of its character n-grams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gensim.models import FastText, Word2Vec

from gensim_tfw2v.blocks.bags import Bags
from gensim_tfw2v.model.input_parts import joined_inputs

_SETTINGS = ("min_n", "max_n", "bucket")  # attributes of the keyed vectors


def word_bags(model: Word2Vec) -> Bags | None:
    """Return the input rows of each word, None if a word is a row alone."""
    return _bags(model.wv) if isinstance(model, FastText) and model.wv.bucket else None


def _bags(vectors: Any) -> Bags:
    words = len(vectors)
    ngrams = [np.asarray(each, np.int64) for each in vectors.buckets_word]
    before = np.cumsum([0, *map(len, ngrams)])
    rows = np.insert(np.concatenate(ngrams) + words, before[:-1], np.arange(words))
    return Bags.joined(rows, before + np.arange(words + 1))


def set_word_vectors(model: FastText) -> None:
    """Set ``wv.vectors``: of each word, the mean of its own row and those of its n-grams, as gensim's loop would."""
    bags = word_bags(model)
    model.wv.vectors = model.wv.vectors_vocab if bags is None else bags.means(joined_inputs(model))


def subword_settings(model: Word2Vec) -> dict[str, int]:
    """Return the settings that decide which n-grams a word has; none for a model without n-grams."""
    return {name: getattr(model.wv, name) for name in _SETTINGS} if isinstance(model, FastText) else {}


def restore_subwords(model: Word2Vec, settings: Mapping[str, int]) -> None:
    """Set these settings, and find the n-grams of a model's words."""
    if isinstance(model, FastText):
        vars(model.wv).update(settings)
        model.wv.recalc_char_ngram_buckets()
