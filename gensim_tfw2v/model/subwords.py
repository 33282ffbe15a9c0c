"""A FastText model's words as bags of rows: each word's own row and those of its character n-grams."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from gensim.models import FastText, Word2Vec
from gensim.models.fasttext import FastTextKeyedVectors
from gensim.utils import SaveLoad, unpickle

from gensim_tfw2v.arrays import Int32Array, Int64Array
from gensim_tfw2v.blocks.bags import Bags, distinct_ids
from gensim_tfw2v.native.functions import call

logger = logging.getLogger(__name__)

_SETTINGS = ("min_n", "max_n", "bucket")  # attributes of the keyed vectors
_MOST_BUCKETS = 2**31 - 1  # numbers of buckets are int32
_CHOSEN_BY_WORDS = -1  # a bucket
_WORDS_AT_ONCE = 256  # so that word vectors need no copy of all rows of n-grams


@dataclass(frozen=True)
class NGrams:
    """The n-grams of a vocabulary's words."""

    bags: Bags  # of each word: its own row, then those of its n-grams, which follow the rows of all words
    used: Int64Array  # the rows of ``vectors_ngrams`` that a word uses, ascending
    of_words: Any  # gensim's list, from which the others follow


_found: WeakKeyDictionary[FastTextKeyedVectors, NGrams] = WeakKeyDictionary()


def ngrams_of(vectors: FastTextKeyedVectors) -> NGrams:
    """Return the n-grams of the words that vectors have, found once for a vocabulary."""
    found = _found.get(vectors)
    if found is None or found.of_words is not vectors.buckets_word:
        found = _found[vectors] = _numbered(vectors.buckets_word, len(vectors))
    return found


def _numbered(of_words: Any, words: int) -> NGrams:
    ngrams = [np.asarray(each, np.int64) for each in of_words]
    before = np.cumsum([0, *map(len, ngrams)])
    used, numbers = np.unique(np.concatenate([np.zeros(0, np.int64), *ngrams]), return_inverse=True)
    rows = np.insert(numbers + words, before[:-1], np.arange(words))
    return NGrams(Bags.joined(rows, before + np.arange(words + 1)), used, of_words)


def has_subwords(model: Word2Vec) -> bool:
    """Return whether the words of a model may have n-grams."""
    return isinstance(model, FastText)


def word_bags(model: Word2Vec) -> Bags | None:
    """Return the input rows of each word, None if a word is a row alone."""
    return ngrams_of(model.wv).bags if has_subwords(model) and model.wv.bucket else None


def set_word_vectors(vectors: FastTextKeyedVectors) -> None:
    """Set the word vectors, the means of the words' own rows and those of their n-grams, as gensim's loop would."""
    if not vectors.bucket:
        vectors.vectors = vectors.vectors_vocab
        return
    found, words = ngrams_of(vectors), len(vectors.vectors_vocab)
    means = np.empty_like(vectors.vectors_vocab, np.float32, subok=False)
    for first in range(0, words, _WORDS_AT_ONCE):
        part = slice(first, min(first + _WORDS_AT_ONCE, words))
        bags = found.bags.some(np.arange(part.start, part.stop, dtype=np.int32))
        members, rows = distinct_ids(bags.members, words + len(found.used))
        own, of_ngrams = rows[rows < words], found.used[rows[rows >= words] - words]
        both = np.concatenate([vectors.vectors_vocab[own], vectors.vectors_ngrams[of_ngrams]])
        means[part] = Bags(members, bags.offsets).means(both)
    vectors.vectors = means


def choose_bucket(vectors: FastTextKeyedVectors) -> None:
    """Set ``bucket``, if it is -1 and there are words, to the number of their different n-grams."""
    if getattr(vectors, "bucket", 0) == _CHOSEN_BY_WORDS and len(vectors):
        vectors.bucket = len(np.unique(_hashed(vectors, _MOST_BUCKETS)[0]))


def memory_report(model: FastText, report: dict[str, int]) -> dict[str, int]:
    """Return the report that gensim's `FastText.estimate_memory` returns, and log it, without its loop over n-grams."""
    words, row = len(model.wv), model.vector_size * np.dtype(np.float32).itemsize
    found = report | {"vocab": words * (700 if model.hs else 500), "syn0_vocab": words * row}
    found |= {name: words * row for name, is_there in (("syn1", model.hs), ("syn1neg", model.negative)) if is_there}
    bucket = model.wv.bucket
    if 0 < bucket <= _MOST_BUCKETS:
        buckets = _hashed(model.wv, bucket)[0]
        found |= {"syn0_ngrams": bucket * row, "buckets_word": 64 + 100 * words + buckets.nbytes}
    found["total"] = sum(found.values())
    shown = words, bucket, model.vector_size, found["total"]
    logger.info("estimated required memory for %i words, %i buckets and %i dimensions: %i bytes", *shown)
    return found


def _hashed(vectors: FastTextKeyedVectors, bucket: int) -> tuple[Int32Array, Int64Array]:
    """Return the numbers of all words' n-grams among so many buckets, and where those of each word begin and end."""
    texts = [f"<{word}>".encode() for word in vectors.index_to_key]
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    given = np.frombuffer(b"".join(texts), np.uint8), ends, vectors.min_n, vectors.max_n, bucket
    offsets = np.empty(len(ends), np.int64)
    buckets = np.empty(call("hash_ngrams", *given, offsets, None), np.int32)
    call("hash_ngrams", *given, offsets, buckets)
    return buckets, offsets


def set_ngrams(vectors: FastTextKeyedVectors) -> None:
    """Set the buckets of each word's n-grams, as gensim's loop would."""
    buckets, offsets = _hashed(vectors, vectors.bucket)
    vectors.buckets_word = np.split(buckets.view(np.uint32), offsets[1:-1]) if len(vectors) else []


@contextlib.contextmanager
def found_quickly(vectors: Any) -> Iterator[None]:
    """Have keyed vectors find n-grams, and word vectors, by compiled code meanwhile if words have n-grams."""
    bucket = getattr(vectors, "bucket", 0)  # models of old versions of gensim have it elsewhere
    if not isinstance(vectors, FastTextKeyedVectors) or not 0 < bucket <= _MOST_BUCKETS:
        yield
        return
    vectors.recalc_char_ngram_buckets = lambda: set_ngrams(vectors)
    vectors.adjust_vectors = lambda: set_word_vectors(vectors)
    try:
        yield
    finally:
        del vectors.recalc_char_ngram_buckets, vectors.adjust_vectors


def loaded_quickly(fname: str, mmap: str | None = None) -> Any:
    """Return what `gensim.utils.SaveLoad.load` returns; n-grams and word vectors are not in the file, but found."""
    compress, subname = SaveLoad._adapt_by_suffix(fname)
    saved = unpickle(fname)
    with found_quickly(getattr(saved, "wv", None)):
        saved._load_specials(fname, mmap, compress, subname)
    saved.add_lifecycle_event("loaded", fname=fname)
    return saved


def subword_settings(model: Word2Vec) -> dict[str, int]:
    """Return the settings that decide which n-grams a word has; none for a model without n-grams."""
    return {name: getattr(model.wv, name) for name in _SETTINGS} if has_subwords(model) else {}


def restore_subwords(model: Word2Vec, settings: Mapping[str, int]) -> None:
    """Set these settings, find the n-grams of a model's words, and make their rows from the seed."""
    if has_subwords(model):
        vars(model.wv).update(settings)
        with found_quickly(model.wv):
            model.wv.resize_vectors(seed=model.seed)
