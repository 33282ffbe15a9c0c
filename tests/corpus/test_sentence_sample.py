"""A sample of sentences of a stream: whole sentences, of bounded size, the same however they are added."""

from __future__ import annotations

import numpy as np
import pytest

from gensim_tfw2v.corpus.sentence_sample import SentenceSample
from gensim_tfw2v.corpus.sentences import Sentences

LENGTHS = np.random.default_rng(1).integers(1, 12, 5000).astype(np.int32)
IDS = np.repeat(np.arange(5000, dtype=np.int32), LENGTHS)  # each word is the number of its sentence


def sampled(words: int, sentences_at_once: int, key: int = 3) -> Sentences:
    sample = SentenceSample(words, key)
    ends = np.cumsum(LENGTHS)
    for first in range(0, len(LENGTHS), sentences_at_once):
        lengths = LENGTHS[first : first + sentences_at_once]
        start = int(ends[first] - LENGTHS[first])
        sample.add(Sentences(IDS[start : start + int(lengths.sum())], lengths))
    return sample.sentences()


def test_a_stream_that_fits_is_kept_as_it_is() -> None:
    found = sampled(10**6, 100)
    np.testing.assert_array_equal(found.ids, IDS)
    np.testing.assert_array_equal(found.lengths, LENGTHS)


def test_a_sample_has_whole_sentences_and_about_the_words_that_are_wanted() -> None:
    found = sampled(1000, 100)
    assert 1000 <= found.ids.size < 1000 + LENGTHS.max()
    numbers = found.ids[np.cumsum(found.lengths) - 1]
    np.testing.assert_array_equal(found.lengths, LENGTHS[numbers])
    np.testing.assert_array_equal(found.ids, np.repeat(numbers, found.lengths))
    assert (np.diff(numbers) > 0).all()


@pytest.mark.parametrize("sentences_at_once", [1, 13, 5000])
def test_a_sample_does_not_depend_on_how_many_sentences_are_added_at_once(sentences_at_once: int) -> None:
    np.testing.assert_array_equal(sampled(1000, sentences_at_once).ids, sampled(1000, 100).ids)


def test_every_sentence_is_as_likely_as_another() -> None:
    drawn = np.zeros(5000)
    for key in range(100):
        drawn[np.unique(sampled(3000, 5000, key).ids)] += 1
    by_place = drawn.reshape(10, 500).mean(axis=1)
    np.testing.assert_allclose(by_place, drawn.mean(), rtol=0.1)


def test_no_sentences_make_an_empty_sample() -> None:
    assert SentenceSample(10, 1).sentences().ids.size == 0
