"""How frequent words are, and how often subsampling keeps them."""

from __future__ import annotations

import numpy as np
import pytest

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.blocks.sampling import keep_probabilities
from gensim_tfw2v.planning.frequencies import WordFrequencies


@pytest.mark.parametrize(("vocabulary", "words"), [(1, 5), (900, 10**5), (46_839, 17_000_000), (10**9, 10**12)])
def test_the_shares_of_all_words_make_the_corpus(vocabulary: int, words: int) -> None:
    frequencies = WordFrequencies.of_law(vocabulary, words, 5)
    assert frequencies.vocabulary == vocabulary
    assert frequencies.known_share == pytest.approx(1)
    assert np.all(np.diff(frequencies.shares) <= 0)


def test_the_rarest_word_of_a_text_occurs_as_often_as_it_must() -> None:
    frequencies = WordFrequencies.of_law(10**6, 10**9, 5)
    assert frequencies.shares[-1] * 10**9 == pytest.approx(5, rel=0.05)


def test_words_with_equal_counts_are_a_group() -> None:
    frequencies = WordFrequencies.of_counts(np.array([2, 7, 2]), raw_words=20)
    assert frequencies.words.tolist() == [1, 2]
    assert frequencies.shares.tolist() == [7 / 20, 2 / 20]


@pytest.mark.parametrize("sample", [1e-3, 1e-5, 0])
def test_kept_shares_are_those_of_gensims_subsampling(sample: float) -> None:
    counts = {f"w{number}": 10_000 // (number + 1) + 1 for number in range(300)}
    model = TFWord2Vec(min_count=1, sample=sample)
    model.build_vocab_from_freq(counts)
    keep = keep_probabilities(model.wv, sample)
    occurrences = np.array([model.wv.get_vecattr(word, "count") for word in model.wv.index_to_key])
    expected = occurrences * (1 if keep is None else keep)
    frequencies = WordFrequencies.of_counts(occurrences, int(occurrences.sum()))
    found = float(frequencies.words @ frequencies.kept_shares(sample)) * occurrences.sum()
    assert found == pytest.approx(expected.sum(), rel=1e-3)
