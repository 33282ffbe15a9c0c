"""Words keep their numbers and counts, whether they were looked up or appended as new ones."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from gensim_tfw2v.corpus.raw_vocabulary import RawVocabulary
from gensim_tfw2v.corpus.tokenizer import Tokenizer


@given(texts=st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=9), max_size=9), readers=st.integers(1, 3))
def test_parts_of_any_number_of_readers_number_words_by_first_appearance(texts: list[list[str]], readers: int) -> None:
    vocabulary, tokenizers = RawVocabulary(), [Tokenizer() for _ in range(readers)]
    for place, text in enumerate(texts):
        part = tokenizers[place % readers].part(" ".join(text).encode())
        found = dict(zip(part.new_words, vocabulary.numbers_of_part(part).tolist(), strict=True))
        assert len(vocabulary) == len({word for earlier in texts[: place + 1] for word in earlier})
        words, _ = vocabulary.words_and_counts()
        assert {word: words.index(word) for word in found} == found
    assert vocabulary.words_and_counts()[0] == list(dict.fromkeys(word for text in texts for word in text))


@given(
    appended=st.lists(st.sampled_from("abcd"), unique=True), texts=st.lists(st.sampled_from("abcdefgh"), max_size=30)
)
def test_appended_words_are_found_and_counted_as_others(appended: list[str], texts: list[str]) -> None:
    vocabulary = RawVocabulary()
    assert vocabulary.append(appended).tolist() == list(range(len(appended)))
    assert vocabulary.words_and_counts()[0] == appended
    numbers = vocabulary.numbers(texts)
    vocabulary.count(numbers)
    words, found = vocabulary.words_and_counts()
    assert words == list(dict.fromkeys([*appended, *texts]))
    assert [words[number] for number in numbers] == texts
    assert dict(zip(words, found.tolist(), strict=True)) == {word: Counter(texts)[word] for word in words}
