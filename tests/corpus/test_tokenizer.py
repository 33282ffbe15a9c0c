"""Words found in bytes are those that str.split finds in the text, and each keeps its number."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.native_functions import WAYS, functions_run

from gensim_tfw2v import tuning
from gensim_tfw2v.corpus.tokenizer import Part, Tokenizer


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """Read text in C and in NumPy."""
    with functions_run(request.param):
        yield request.param


in_both_ways = pytest.mark.usefixtures("way")


def words_of(parts: list[Part]) -> list[list[str]]:
    """Return the words of each part, from their numbers."""
    words: list[str] = []
    texts = []
    for part in parts:
        words = part.new_words if part.new_numbering else words + part.new_words
        assert len(set(words)) == len(words)
        texts.append([words[number] for number in part.ids])
    return texts


def lines_of(parts: list[Part]) -> list[list[int]]:
    return [part.line_lengths.tolist() for part in parts]


@pytest.mark.parametrize("kind", WAYS)
@given(
    texts=st.lists(st.text(st.sampled_from("ab\x00é中😀 \n\u3000\x85") | st.characters(codec="utf-8"))),
    piece_bytes=st.integers(1, 40),
    table_bits=st.integers(1, 6),
)
def test_any_text_gives_the_words_and_line_lengths_of_str_split(
    kind: str, texts: list[str], piece_bytes: int, table_bits: int
) -> None:
    with pytest.MonkeyPatch.context() as patch, functions_run(kind):
        patch.setattr(tuning, "TOKENIZER_PIECE_BYTES", piece_bytes)
        patch.setattr(tuning, "TOKENIZER_TABLE_BITS", table_bits)
        reader = Tokenizer()
        parts = [reader.part(text.encode()) for text in texts]
    assert words_of(parts) == [text.split() for text in texts]
    assert lines_of(parts) == [[len(line.split()) for line in text.split("\n")] for text in texts]


@pytest.mark.parametrize("kind", WAYS)
@given(
    before=st.integers(0, 70),
    characters=st.lists(st.sampled_from("a é\x85中\u2028\u3000😀\n"), min_size=40, max_size=90),
)
def test_characters_and_spaces_at_any_place_of_a_text_are_found(kind: str, before: int, characters: list[str]) -> None:
    text = "x" * before + "".join(characters)
    with functions_run(kind):
        parts = [Tokenizer().part(text.encode())]
    assert words_of(parts) == [text.split()]
    assert lines_of(parts) == [[len(line.split()) for line in text.split("\n")]]


@in_both_ways
def test_every_character_of_unicode_splits_or_joins_as_in_str_split() -> None:
    characters = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]
    text = " ".join(f"a{character}b" for character in characters)
    assert words_of([Tokenizer().part(text.encode())]) == [text.split()]


@in_both_ways
@pytest.mark.parametrize("size", range(1, 40))
def test_words_that_differ_in_one_byte_or_a_trailing_zero_are_told_apart(size: int) -> None:
    word = "x" * size
    words = [word] + [word[:place] + "y" + word[place + 1 :] for place in range(size)] + [word + "\x00"]
    reader = Tokenizer()
    numbers = [reader.part(" ".join(words).encode()).ids.tolist() for _ in range(2)]
    assert numbers == [list(range(size + 2))] * 2


@in_both_ways
def test_known_words_are_not_reported_again() -> None:
    reader = Tokenizer()
    assert reader.part(b"a b a").new_words == ["a", "b"]
    part = reader.part(b"b c a c")
    assert (part.new_numbering, part.new_words, part.ids.tolist()) == (False, ["c"], [1, 2, 0, 2])


@in_both_ways
def test_a_full_dictionary_starts_a_new_numbering_with_the_next_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "TOKENIZER_WORDS", 2)
    reader = Tokenizer()
    reader.part(b"a b c")
    part = reader.part(b"c b c")
    assert (part.new_numbering, part.new_words, part.ids.tolist()) == (True, ["c", "b"], [0, 1, 0])


@in_both_ways
def test_an_empty_part_has_one_line_without_words() -> None:
    part = Tokenizer().part(b"")
    assert (part.new_words, part.ids.tolist(), part.line_lengths.tolist()) == ([], [], [0])
    assert part.ids.dtype == part.line_lengths.dtype == np.int32


@in_both_ways
def test_many_words_keep_their_numbers_while_the_table_grows() -> None:
    words = [f"{'long' * (number % 9)}{number}" for number in range(50_000)]
    reader = Tokenizer()
    parts = [reader.part(" ".join(words[: size * 2] * 2).encode()) for size in (10, 1_000, 25_000)]
    assert words_of(parts) == [words[:20] * 2, words[:2_000] * 2, words * 2]


@in_both_ways
def test_words_of_any_length_are_told_from_their_beginnings() -> None:
    words = ["y" * size for size in range(1, 300)]
    assert words_of([Tokenizer().part(" ".join(words + words[::-1]).encode())]) == [words + words[::-1]]


_NOT_UTF8 = [b"\xff", b"\xc3", b"\xe2\x80", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xf0\x80\x80\x80"]


@in_both_ways
@pytest.mark.parametrize("bad", _NOT_UTF8)
def test_what_is_not_utf8_is_located(bad: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "TOKENIZER_PIECE_BYTES", 4)
    with pytest.raises(UnicodeDecodeError) as caught:
        Tokenizer().part("wörd and ".encode() + bad + b" word")
    assert caught.value.start == 10


@pytest.mark.parametrize("kind", WAYS)
@given(
    pieces=st.lists(
        st.sampled_from([*_NOT_UTF8, *(bytes([code]) for code in range(0x80, 0x100)), b" ", b"ab", "é中😀".encode()])
        | st.binary(max_size=5)
    ),
    before=st.integers(0, 70),
)
def test_bytes_are_refused_where_python_refuses_them(kind: str, pieces: list[bytes], before: int) -> None:
    data = b"x" * before + b"".join(pieces)
    try:
        expected: object = data.decode().split()
    except UnicodeDecodeError as error:
        expected = error.args
    with functions_run(kind):
        try:
            found: object = words_of([Tokenizer().part(data)])[0]
        except UnicodeDecodeError as error:
            found = error.args
    assert found == expected


@in_both_ways
@pytest.mark.parametrize("lead", [0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5])
def test_second_bytes_of_characters_are_those_that_python_allows(lead: int) -> None:
    def is_read(data: bytes) -> bool:
        try:
            return bool(Tokenizer().part(data))
        except UnicodeDecodeError:
            return False

    def is_text(data: bytes) -> bool:
        try:
            return bool(data.decode())
        except UnicodeDecodeError:
            return False

    for second in range(0x100):
        for rest in (b"", b"\x80", b"\xbf\xbf"):
            data = bytes([lead, second]) + rest
            assert is_read(data) == is_text(data)
