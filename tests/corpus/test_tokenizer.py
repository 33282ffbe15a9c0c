"""Words found in bytes are those that str.split finds in the text, and each keeps its number."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gensim_tfw2v import tuning
from gensim_tfw2v.corpus.tokenizer import Part, Tokenizer


def words_of(parts: list[Part]) -> list[list[str]]:
    """Return the words of each part, from their numbers."""
    words: list[str] = []
    texts = []
    for part in parts:
        words = part.new_words if part.new_numbering else words + part.new_words
        assert len(set(words)) == len(words)
        texts.append([words[number] for number in part.ids])
    return texts


@given(
    texts=st.lists(st.text(st.sampled_from("ab\x00é中 \n\u3000\x85") | st.characters(codec="utf-8"))),
    piece_bytes=st.integers(1, 40),
    table_bits=st.integers(1, 6),
)
def test_any_text_gives_the_words_and_line_lengths_of_str_split(
    texts: list[str], piece_bytes: int, table_bits: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "TOKENIZER_PIECE_BYTES", piece_bytes)
        patch.setattr(tuning, "TOKENIZER_TABLE_BITS", table_bits)
        reader = Tokenizer()
        parts = [reader.part(text.encode()) for text in texts]
    assert words_of(parts) == [text.split() for text in texts]
    for part, text in zip(parts, texts, strict=True):
        assert part.line_lengths.tolist() == [len(line.split()) for line in text.split("\n")]


def test_every_character_of_unicode_splits_or_joins_as_in_str_split() -> None:
    characters = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]
    text = " ".join(f"a{character}b" for character in characters)
    assert words_of([Tokenizer().part(text.encode())]) == [text.split()]


@pytest.mark.parametrize("size", range(1, 20))
def test_words_that_differ_in_one_byte_or_a_trailing_zero_are_told_apart(size: int) -> None:
    word = "x" * size
    words = [word] + [word[:place] + "y" + word[place + 1 :] for place in range(size)] + [word + "\x00"]
    reader = Tokenizer()
    numbers = [reader.part(" ".join(words).encode()).ids.tolist() for _ in range(2)]
    assert numbers == [list(range(size + 2))] * 2


def test_known_words_are_not_reported_again() -> None:
    reader = Tokenizer()
    assert reader.part(b"a b a").new_words == ["a", "b"]
    part = reader.part(b"b c a c")
    assert (part.new_numbering, part.new_words, part.ids.tolist()) == (False, ["c"], [1, 2, 0, 2])


def test_a_full_dictionary_starts_a_new_numbering_with_the_next_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "TOKENIZER_WORDS", 2)
    reader = Tokenizer()
    reader.part(b"a b c")
    part = reader.part(b"c b c")
    assert (part.new_numbering, part.new_words, part.ids.tolist()) == (True, ["c", "b"], [0, 1, 0])


def test_an_empty_part_has_one_line_without_words() -> None:
    part = Tokenizer().part(b"")
    assert (part.new_words, part.ids.tolist(), part.line_lengths.tolist()) == ([], [], [0])
    assert part.ids.dtype == part.line_lengths.dtype == np.int32


@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xe2\x80", b"\xed\xa0\x80", b"\xc0\x80"])
def test_what_is_not_utf8_is_located(bad: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "TOKENIZER_PIECE_BYTES", 4)
    with pytest.raises(UnicodeDecodeError) as caught:
        Tokenizer().part("wörd and ".encode() + bad + b" word")
    assert caught.value.start == 10
