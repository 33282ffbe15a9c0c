"""A FastText model's words as bags of rows: each word's own row and those of its character n-grams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from gensim.models import FastText, Word2Vec

from gensim_tfw2v.arrays import Int64Array
from gensim_tfw2v.blocks.bags import Bags

_SETTINGS = ("min_n", "max_n", "bucket")  # attributes of the keyed vectors


@dataclass(frozen=True)
class NGrams:
    """The n-grams of a vocabulary's words."""

    bags: Bags  # of each word: its own row, then those of its n-grams, which follow the rows of all words
    used: Int64Array  # the rows of ``vectors_ngrams`` that a word uses, ascending
    of_words: Any  # gensim's list, from which the others follow


def ngrams_of(model: FastText) -> NGrams:
    """Return the n-grams of a model's words, found once for a vocabulary."""
    found: NGrams | None = vars(model).get("_ngrams")
    if found is None or found.of_words is not model.wv.buckets_word:
        found = model._ngrams = _found(model.wv.buckets_word, len(model.wv))
    return found


def _found(of_words: Any, words: int) -> NGrams:
    ngrams = [np.asarray(each, np.int64) for each in of_words]
    before = np.cumsum([0, *map(len, ngrams)])
    used, numbers = np.unique(np.concatenate([np.zeros(0, np.int64), *ngrams]), return_inverse=True)
    rows = np.insert(numbers + words, before[:-1], np.arange(words))
    return NGrams(Bags.joined(rows, before + np.arange(words + 1)), used, of_words)


def has_bags(cls: type[Any]) -> bool:
    """Return whether the words of a class's models have n-grams."""
    return issubclass(cls, FastText)


def word_bags(model: Word2Vec) -> Bags | None:
    """Return the input rows of each word, None if a word is a row alone."""
    return ngrams_of(model).bags if isinstance(model, FastText) and model.wv.bucket else None


def subword_settings(model: Word2Vec) -> dict[str, int]:
    """Return the settings that decide which n-grams a word has; none for a model without n-grams."""
    return {name: getattr(model.wv, name) for name in _SETTINGS} if isinstance(model, FastText) else {}


def restore_subwords(model: Word2Vec, settings: Mapping[str, int]) -> None:
    """Set these settings, find the n-grams of a model's words, and make their rows from the seed."""
    if isinstance(model, FastText):
        vars(model.wv).update(settings)
        model.wv.resize_vectors(seed=model.seed)
