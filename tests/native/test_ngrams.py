"""The buckets of n-grams are those that gensim finds, in C and in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from gensim.models.fasttext import FastTextKeyedVectors
from hypothesis import given
from hypothesis import strategies as st
from support.awkward_words import AWKWARD
from support.native_functions import WAYS, functions_run

from gensim_tfw2v.model.subwords import found_quickly, set_ngrams
from gensim_tfw2v.native.functions import call

EACH_WAY = pytest.mark.parametrize("way", WAYS)
WORDS = [
    "a",
    "<",
    "",
    "the",
    "naïve",
    "日本語",
    "e\u0301",
    "\U0001f600x",
    *(word for word in AWKWARD if word.isprintable() or word.isascii()),
    7,
]


def check_buckets(words: list[object], least: int, most: int, bucket: int) -> None:
    """Check the buckets of words' n-grams of these lengths."""
    vectors = FastTextKeyedVectors(4, least, most, bucket)
    vectors.index_to_key = words
    vectors.recalc_char_ngram_buckets()
    expected = vectors.buckets_word
    set_ngrams(vectors)
    assert len(vectors.buckets_word) == len(words)
    for found, wanted in zip(vectors.buckets_word, expected, strict=True):
        assert found.dtype == wanted.dtype and found.tolist() == wanted.tolist()


@EACH_WAY
@pytest.mark.parametrize(("least", "most"), [(3, 6), (1, 1), (1, 3), (2, 2), (5, 4), (6, 40)])
@pytest.mark.parametrize("bucket", [1, 7, 2_000_000, 2**31 - 1])
def test_buckets_are_those_of_gensim(way: str, least: int, most: int, bucket: int) -> None:
    with functions_run(way):
        check_buckets(WORDS, least, most, bucket)
        check_buckets([], least, most, bucket)


@given(st.lists(st.text(st.characters(codec="utf-8")), max_size=5), st.integers(1, 4), st.integers(1, 8))
def test_buckets_of_any_text_are_those_of_gensim(words: list[str], least: int, most: int) -> None:
    for way in WAYS:
        with functions_run(way):
            check_buckets(words, least, most, 1000)


@EACH_WAY
def test_wrong_sizes_are_refused(way: str) -> None:
    texts, offsets = np.frombuffer(b"<ab>", np.uint8), np.zeros(2, np.int64)

    def run(ends: list[int], bucket: int = 10, room: int = 10) -> int:
        return call("hash_ngrams", texts, np.array(ends, np.int64), 3, 6, bucket, offsets, np.zeros(room, np.int32))

    with functions_run(way):
        assert run([0, 4]) == 3
        for wrong in ([0, 5], [-1, 4], [4, 0], [], [0, 2, 4]):
            with pytest.raises(ValueError, match="sizes"):
                run(wrong)
        for bucket in (0, -1, 2**31):
            with pytest.raises(ValueError, match="sizes"):
                run([0, 4], bucket)
        with pytest.raises(ValueError, match="sizes"):
            run([0, 4], room=2)


def test_word_vectors_are_those_of_gensims_loop() -> None:
    vectors = FastTextKeyedVectors(4, 3, 6, 50)
    vectors.index_to_key = ["the", "a", "banana", ""]
    vectors.key_to_index = {word: number for number, word in enumerate(vectors.index_to_key)}
    vectors.resize_vectors(seed=1)
    expected = vectors.vectors
    with found_quickly(vectors):
        vectors.adjust_vectors()
    np.testing.assert_allclose(vectors.vectors, expected, rtol=1e-6)
