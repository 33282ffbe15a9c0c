"""Functions in C and in NumPy do what plain NumPy does, and refuse arrays that do not fit before they use them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.native_functions import WAYS, functions_run
from support.plain_blocks import plain_selection

from gensim_tfw2v.arrays import address_of, aligned_empty
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.native.functions import call
from gensim_tfw2v.native.random_numbers import RandomNumbers
from gensim_tfw2v.native.word_table import WordTable


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run the functions in C and in NumPy."""
    with functions_run(request.param):
        yield request.param


in_both_ways = pytest.mark.usefixtures("way")


def int32s(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def int64s(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def float32s(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def float64s(*values: float) -> np.ndarray:
    return np.array(values, np.float64)


def room(entries: int, dtype: type = np.int32) -> np.ndarray:
    return np.full(entries, 77, dtype)


def random() -> RandomNumbers:
    return RandomNumbers.seeded([1])


def text(content: str) -> np.ndarray:
    return np.frombuffer(content.encode(), np.uint8)


def table_of(*words: str, text_bytes: int) -> WordTable:
    """Return a table of words with room for those of a text of so many bytes."""
    table = WordTable()
    table.make_room(len(" ".join(words)))
    table.add(words)
    table.make_room(text_bytes)
    return table


def valid_call(name: str) -> list[Any]:
    """Return the arguments of a call that succeeds."""
    ids, lengths = int32s(1, 0, 2, 1), int32s(3, 1)
    starts, neighbours = int64s(0, 1, 3, 4), int32s(1, 0, 2, 1)  # a graph of the edges 0 to 1 and 1 to 2
    offsets, nodes, codes = int32s(0, 1, 3, 5), int32s(1, 1, 0, 1, 0), np.array([0, 1, 0, 1, 1], np.uint8)
    return {
        "page_checksums": [np.ones(100, np.uint8), 64, room(4, np.uint64)],
        "extremes": [ids, room(3, np.int64)],
        "count_words": [ids, room(3, np.int64)],
        "renumber": [ids, int32s(4, -1, 5), room(4)],
        "known_words": [ids, lengths, int32s(4, -1, 5), room(4), room(2), room(1, np.int64), room(2)],
        "subsample": [ids, lengths, np.ones(3, np.float32), random(), room(4), room(2), room(1, np.int64), None],
        "draw_windows": [lengths, 4, 2, 1, random(), room(6), room(6)],
        "count_pairs": [int32s(0, 1, 2, 2), int32s(2, 1, 0, 0), np.arange(3, dtype=np.float32), room(2, np.float64)],
        "draw_negatives": [np.array([5, 9], np.uint32), 3, random(), room(8)],
        "pad": [ids, room(6)],
        "widen": [ids, 2, 3, 2, room(4), room(18)],
        "number_words": [ids, 3, room(4), room(3)],
        "path_offsets": [int32s(0, 2), offsets, 5, room(3)],
        "copy_paths": [int32s(0, 2), offsets, nodes, codes, room(3), room(3)],
        "join_rarest": [float64s(5, 1, 2), int32s(2, 0, 1), room(5), room(5, np.uint8)],
        "group_edges": [
            *(int32s(0, 1), int32s(1, 2), float32s(1, 2), 1),
            *(room(4, np.int64), room(4), room(4, np.float32)),
        ],
        "turn_edges": [starts, neighbours, float32s(1, 1, 2, 2), room(4, np.int64), room(4), room(4, np.float32)],
        "add_weights": [starts, float32s(1, 1, 2, 2), room(4, np.float64)],
        "draw_walks": [
            *(starts, neighbours, float64s(1, 1, 3, 2), float64s(0.5, 1, 2), int32s(0, 2), 5, random()),
            *(room(10), room(2)),
        ],
        # Two words and a line end of the text before are written already.
        "tokenize": [text("b é\na\n \n"), table_of("a", "b", text_bytes=9), room(8), room(4), int64s(2, 1)],
    }[name]


SIZES, LENGTHS, WORDS, PATHS = "sizes of arrays", "do not end where", "ids of no word", "outside of the tree"
NOT_UTF8 = "text is not UTF-8"
# The number of an argument, what it is replaced by, and the error.
REFUSED: list[tuple[str, int, Any, str]] = [
    ("page_checksums", 1, 0, SIZES),
    ("page_checksums", 1, -64, SIZES),
    ("page_checksums", 1, 12, SIZES),
    ("page_checksums", 2, room(2, np.uint64), SIZES),
    ("extremes", 1, room(2, np.int64), SIZES),
    *((name, 0, int32s(1, 0, 3, 1), WORDS) for name in ("known_words", "subsample", "count_words", "renumber")),
    *((name, 0, int32s(1, 0, -1, 1), WORDS) for name in ("known_words", "subsample", "count_words", "renumber")),
    ("renumber", 1, int32s(4, -1), WORDS),
    ("renumber", 2, room(3), SIZES),
    ("renumber", 2, room(5), SIZES),
    *((name, 1, int32s(3, 2), LENGTHS) for name in ("known_words", "subsample")),
    *((name, 1, int32s(5, -1), LENGTHS) for name in ("known_words", "subsample")),
    ("known_words", 3, room(3), SIZES),
    ("known_words", 4, room(1), SIZES),
    ("known_words", 5, room(0, np.int64), SIZES),
    ("known_words", 6, room(1), SIZES),
    ("subsample", 2, np.ones(2, np.float32), WORDS),
    ("subsample", 4, room(3), SIZES),
    ("subsample", 5, room(1), SIZES),
    ("subsample", 6, room(2, np.int64), SIZES),
    ("subsample", 7, room(1), SIZES),
    ("draw_windows", 0, int32s(5, -1), LENGTHS),
    ("draw_windows", 1, 5, LENGTHS),
    ("draw_windows", 1, 2**31, SIZES),
    ("draw_windows", 2, 0, SIZES),
    ("draw_windows", 2, 2**31, SIZES),
    ("draw_windows", 5, room(5), SIZES),
    ("draw_windows", 6, room(3), SIZES),
    ("count_pairs", 0, int32s(0, 1, 2), SIZES),
    ("count_pairs", 0, int32s(0, 1, 2, 3), SIZES),
    ("count_pairs", 1, int32s(0, 1, 2, -1), SIZES),
    ("count_pairs", 2, np.ones(2, np.float32), SIZES),
    ("count_pairs", 3, room(0, np.float64), SIZES),
    ("count_pairs", 3, room(3, np.float64), SIZES),
    ("draw_negatives", 0, np.zeros(0, np.uint32), SIZES),
    ("draw_negatives", 1, 0, SIZES),
    ("draw_negatives", 3, room(0), SIZES),
    ("pad", 1, room(3), SIZES),
    ("widen", 0, int32s(), SIZES),
    ("widen", 1, 0, SIZES),
    ("widen", 1, 4, SIZES),
    ("widen", 2, -1, SIZES),
    ("widen", 2, 2**62, SIZES),
    ("widen", 3, -1, SIZES),
    ("widen", 3, 2**62, SIZES),
    ("widen", 4, room(3), SIZES),
    ("widen", 5, room(16), SIZES),
    ("number_words", 0, int32s(1, 0, 3, 1), WORDS),
    ("number_words", 0, int32s(1, 0, -1, 1), WORDS),
    ("number_words", 1, -1, SIZES),
    ("number_words", 1, 2**31, SIZES),
    ("number_words", 2, room(3), SIZES),
    ("number_words", 3, room(2), SIZES),
    ("path_offsets", 0, int32s(0, 3), WORDS),
    ("path_offsets", 1, int32s(0, 1, 6, 5), PATHS),
    ("path_offsets", 1, int32s(-1, 1, 3, 5), PATHS),
    ("path_offsets", 1, int32s(), WORDS),
    ("path_offsets", 2, 4, PATHS),
    ("path_offsets", 3, room(2), SIZES),
    ("copy_paths", 0, int32s(0, -1), WORDS),
    ("copy_paths", 1, int32s(0, 1, 4, 3), PATHS),
    ("copy_paths", 1, int32s(-9, 1, 3, 5), PATHS),
    ("copy_paths", 1, int32s(0, 1, 3, 6), PATHS),
    ("copy_paths", 3, np.zeros(4, np.uint8), SIZES),
    ("copy_paths", 4, room(2), SIZES),
    ("copy_paths", 5, room(4), SIZES),
    ("join_rarest", 0, float64s(5, 1), SIZES),
    ("join_rarest", 1, int32s(2, 0), SIZES),
    ("join_rarest", 1, int32s(2, 0, 3), WORDS),
    ("join_rarest", 1, int32s(2, 0, -1), WORDS),
    ("join_rarest", 2, room(4), SIZES),
    ("join_rarest", 3, room(6, np.uint8), SIZES),
    ("group_edges", 0, int32s(0, 3), WORDS),
    ("group_edges", 0, int32s(0, -1), WORDS),
    ("group_edges", 1, int32s(1, 3), WORDS),
    ("group_edges", 1, int32s(1), SIZES),
    ("group_edges", 2, float32s(1), SIZES),
    ("group_edges", 2, float32s(), SIZES),
    ("group_edges", 3, 0, SIZES),
    ("group_edges", 4, room(0, np.int64), SIZES),
    ("group_edges", 5, room(3), SIZES),
    ("group_edges", 6, room(3, np.float32), SIZES),
    ("turn_edges", 0, int64s(0, 1, 3, 5), SIZES),
    ("turn_edges", 0, int64s(0, 3, 1, 4), SIZES),
    ("turn_edges", 0, int64s(1, 1, 3, 4), SIZES),
    ("turn_edges", 0, int64s(), SIZES),
    ("turn_edges", 1, int32s(1, 0, 3, 1), WORDS),
    ("turn_edges", 2, float32s(1, 1), SIZES),
    ("turn_edges", 3, room(3, np.int64), SIZES),
    ("turn_edges", 4, room(3), SIZES),
    ("turn_edges", 5, room(3, np.float32), SIZES),
    ("add_weights", 0, int64s(0, 1, 3, 5), SIZES),
    ("add_weights", 2, room(3, np.float64), SIZES),
    ("draw_walks", 0, int64s(0, 1, 3, 5), SIZES),
    ("draw_walks", 0, int64s(0, 9, 3, 4), SIZES),
    ("draw_walks", 0, int64s(0, -1, 3, 4), SIZES),
    ("draw_walks", 0, int64s(), SIZES),
    ("draw_walks", 1, int32s(3, 0, 2, 3), WORDS),
    ("draw_walks", 1, int32s(-1, 0, 2, -1), WORDS),
    ("draw_walks", 2, float64s(1, 1), SIZES),
    ("draw_walks", 3, float64s(1, 1), SIZES),
    ("draw_walks", 3, float64s(0, 1, 1), SIZES),
    ("draw_walks", 3, float64s(1, 1, np.nan), SIZES),
    ("draw_walks", 4, int32s(0, 3), WORDS),
    ("draw_walks", 4, int32s(0, -1), WORDS),
    ("draw_walks", 5, 0, SIZES),
    ("draw_walks", 5, 6, SIZES),
    ("draw_walks", 7, room(9), SIZES),
    ("draw_walks", 8, room(3), SIZES),
    ("tokenize", 0, np.array([97, 0xC3], np.uint8), NOT_UTF8),
    ("tokenize", 1, WordTable(), SIZES),
    ("tokenize", 1, table_of(*"abcdefgh", text_bytes=0), SIZES),
    ("tokenize", 2, room(6), SIZES),
    ("tokenize", 3, room(3), SIZES),
    ("tokenize", 4, int64s(-1, 1), SIZES),
    ("tokenize", 4, int64s(2, -1), SIZES),
    ("tokenize", 4, int64s(2), SIZES),
]


@in_both_ways
@pytest.mark.parametrize("name", sorted({name for name, *_ in REFUSED}))
def test_valid_calls_succeed(name: str) -> None:
    assert call(name, *valid_call(name)) >= 0


@in_both_ways
@pytest.mark.parametrize(("name", "number", "wrong", "why"), REFUSED)
def test_arguments_that_do_not_fit_are_refused_and_nothing_is_drawn(
    name: str, number: int, wrong: Any, why: str
) -> None:
    arguments = valid_call(name)
    arguments[number] = wrong
    with pytest.raises((ValueError, IndexError), match=why):
        call(name, *arguments)
    drawn = [bytes(argument) for argument in arguments if isinstance(argument, RandomNumbers)]
    assert drawn in ([], [bytes(random())])


@in_both_ways
@pytest.mark.parametrize("dtype", ["f8", "f4", ">i4", "u4", "i8"])
def test_arrays_of_another_type_are_refused(dtype: str) -> None:
    with pytest.raises(TypeError, match="pad takes an array of int32"):
        call("pad", np.zeros(4, dtype), room(6))


@in_both_ways
def test_arrays_that_are_read_only_unaligned_or_not_contiguous_are_read() -> None:
    values = np.arange(1, 7, dtype=np.int32)
    unaligned = np.frombuffer(b"-" + values.tobytes(), np.int32, 6, 1)
    every_second = np.repeat(values, 2)[::2]
    for array in (np.frombuffer(values.tobytes(), np.int32), unaligned, every_second):
        padded = room(8)
        call("pad", array, padded)
        assert padded.tolist() == [1, 2, 3, 4, 5, 6, 0, 0]


@in_both_ways
@pytest.mark.parametrize("pool", [1, 5, 1000])
def test_tables_of_negatives_that_do_not_rise_still_give_words(pool: int) -> None:
    drawn = room(500)
    call("draw_negatives", np.array([9, 2**32 - 1, 0, 7, 3], np.uint32), pool, random(), drawn)
    assert 0 <= drawn.min() <= drawn.max() < 5


@pytest.mark.parametrize("kind", WAYS)
@given(
    lengths=st.lists(st.integers(0, 9), max_size=9),
    unknown=st.sampled_from([0.0, 0.3, 1.0]),
    by_table=st.booleans(),
    seed=st.integers(0, 99),
)
def test_known_words_are_those_of_plain_numpy(
    kind: str, lengths: list[int], unknown: float, by_table: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    table = np.where(rng.random(20) < unknown, -1, rng.permutation(20)).astype(np.int32)
    ids = rng.integers(0, 20, sum(lengths)).astype(np.int32)
    sentences = Sentences(ids if by_table else table[ids], np.array(lengths, np.int32))
    with functions_run(kind):
        known = sentences.known_words(table if by_table else None)
    expected = plain_selection(Sentences(table[ids], sentences.lengths), table[ids] >= 0)
    for ours, theirs in ((known.ids, expected.ids), (known.lengths, expected.lengths)):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("kind", WAYS)
@given(values=st.lists(st.integers(-(2**31), 2**31 - 1), max_size=99))
def test_extremes_are_least_largest_and_sum(kind: str, values: list[int]) -> None:
    found = room(3, np.int64)
    with functions_run(kind):
        call("extremes", int32s(*values), found)
    assert found.tolist() == [min(values, default=0), max(values, default=0), sum(values)]


@pytest.mark.parametrize("kind", WAYS)
@given(ids=st.lists(st.integers(0, 19), max_size=99), seed=st.integers(0, 99))
def test_words_are_counted_and_renumbered_as_in_plain_numpy(kind: str, ids: list[int], seed: int) -> None:
    table = np.random.default_rng(seed).permutation(20).astype(np.int32)
    counts, numbers = np.arange(20), room(len(ids))
    with functions_run(kind):
        call("count_words", int32s(*ids), counts)
        call("renumber", int32s(*ids), table, numbers)
    assert counts.tolist() == [number + ids.count(number) for number in range(20)]
    assert numbers.tolist() == table[ids].tolist()


@in_both_ways
def test_words_of_a_text_are_written_behind_those_of_the_text_before() -> None:
    table, numbers, line_ends, found = table_of("a", "b", text_bytes=9), room(8), room(4), int64s(2, 1)
    call("tokenize", text("b é\na\n \n"), table, numbers, line_ends, found)
    assert (table.words_from(0), table.words_from(2), table.words_from(3)) == (["a", "b", "é"], ["é"], [])
    assert numbers.tolist() == [77, 77, 1, 2, 0, 77, 77, 77]
    assert line_ends.tolist() == [77, 4, 5, 5]
    assert found.tolist() == [5, 4]


@pytest.mark.parametrize("shape", [0, 5, (3, 4, 5), (2, 0)])
def test_aligned_arrays_begin_at_multiples_of_64_bytes(shape: Any) -> None:
    for dtype in (np.int32, np.float64):
        array = aligned_empty(shape, dtype)
        assert (array.shape, array.dtype) == (np.empty(shape).shape, dtype)
        assert array.flags.c_contiguous
        assert address_of(array) == array.ctypes.data
        assert not array.size or array.ctypes.data % 64 == 0


@pytest.mark.parametrize("name", sorted({name for name, *_ in REFUSED}))
def test_functions_in_numpy_write_and_draw_what_those_in_c_do(name: str) -> None:
    found = []
    for kind in WAYS:
        arguments = valid_call(name)
        with functions_run(kind):
            result = call(name, *arguments)
        arrays = [argument for argument in arguments if isinstance(argument, np.ndarray)]
        if name in ("known_words", "subsample"):  # there is room for more words than are written
            *given, ids, lengths, sentences, numbers = arrays
            arrays = [*given, ids[:result], lengths[: sentences[0]], sentences, numbers[: sentences[0]]]
        drawn = [bytes(argument) for argument in arguments if isinstance(argument, RandomNumbers)]
        words = [argument.words_from(0) for argument in arguments if isinstance(argument, WordTable)]
        found.append((result, [array.tolist() for array in arrays], drawn, words))
    assert found[0] == found[1]
