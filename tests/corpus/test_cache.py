"""The store of encoded sentences gives back what was added, and keeps within its budgets."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.child_process import run_script

from gensim_tfw2v.corpus import cache as encoded
from gensim_tfw2v.corpus.cache import CacheBudget, EncodedStore
from gensim_tfw2v.corpus.sentences import MAX_SENTENCE_WORDS, Sentences, piece_lengths


def sentence(*ids: int) -> Sentences:
    """Return one sentence: 4 bytes for each id and 4 for its length."""
    return Sentences(np.array(ids, dtype=np.int32), np.array([len(ids)], dtype=np.int32))


def held(store: EncodedStore) -> list[list[int]]:
    """Return the ids of each entry in a store."""
    return [sentences.ids.tolist() for sentences in store]


@given(st.lists(st.integers(0, 45_000), max_size=8))
def test_pieces_of_overlong_sentences_are_those_of_a_plain_loop(lengths: list[int]) -> None:
    expected = [
        min(MAX_SENTENCE_WORDS, length - start) for length in lengths for start in range(0, length, MAX_SENTENCE_WORDS)
    ]
    assert piece_lengths(np.array(lengths, dtype=np.int64)).tolist() == expected


@pytest.mark.parametrize("budget", [CacheBudget(36, 0), CacheBudget(0, 36), CacheBudget(12, 24)])
def test_what_fits_comes_back_in_order_as_often_as_asked(budget: CacheBudget) -> None:
    store = EncodedStore(budget)
    for ids in ([1, 2], [3, 4], [5, 6]):
        store.append(sentence(*ids))
    assert [held(store), held(store)] == [[[1, 2], [3, 4], [5, 6]]] * 2
    assert [sentences.lengths.tolist() for sentences in store] == [[2], [2], [2]]
    store.close()


@pytest.mark.parametrize("budget", [CacheBudget(35, 0), CacheBudget(0, 35), CacheBudget(12, 23)])
def test_one_byte_too_little_drops_everything(budget: CacheBudget) -> None:
    store = EncodedStore(budget)
    for ids in ([1, 2], [3, 4], [5, 6]):
        store.append(sentence(*ids))
    assert not store.complete
    assert held(store) == []


def test_once_dropped_nothing_more_is_kept() -> None:
    store = EncodedStore(CacheBudget(12, 0))
    for ids in ([1, 2, 3], [4]):
        store.append(sentence(*ids))
    assert not store.complete
    assert held(store) == []


def test_the_disk_is_not_touched_while_memory_lasts(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    store = EncodedStore(CacheBudget(12, 100, str(missing)))
    store.append(sentence(1, 2))
    assert held(store) == [[1, 2]]


def test_a_directory_that_does_not_exist_is_named(tmp_path: Path) -> None:
    store = EncodedStore(CacheBudget(0, 100, str(tmp_path / "missing")))
    with pytest.raises(OSError, match=r"missing.*cache_dir"):
        store.append(sentence(1))


def test_the_file_has_no_name_that_could_be_left_behind(tmp_path: Path) -> None:
    store = EncodedStore(CacheBudget(0, 100, str(tmp_path)))
    store.append(sentence(1))
    assert list(tmp_path.iterdir()) == []
    store.close()


def test_a_full_disk_drops_the_cache_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("needs /dev/full, the device on which every write fails")
    monkeypatch.setattr(encoded, "_unnamed_file", lambda directory: full.open("w+b"))
    store = EncodedStore(CacheBudget(0, 100))
    store.append(sentence(1, 2))
    assert not store.complete
    assert "cannot keep the encoded corpus on disk" in caplog.text


def test_reading_on_after_close_is_refused() -> None:
    store = EncodedStore(CacheBudget(0, 100))
    store.append(sentence(1))
    store.append(sentence(2))
    reading = iter(store)
    next(reading)
    store.close()
    with pytest.raises(RuntimeError, match="closed while it was being read"):
        next(reading)


FORKED = """
import os
import numpy as np
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.cache import CacheBudget, EncodedStore

def sentence(number):
    return Sentences(np.full(20_000, number, np.int32), np.array([10_000, 10_000], np.int32))

def held(store):
    return [(set(sentences.ids.tolist()), sentences.lengths.tolist()) for sentences in store]

store = EncodedStore(CacheBudget(0, 2**20))
for number in range(8):
    store.append(sentence(number))
whole = [({number}, [10_000, 10_000]) for number in range(8)]
children = []
"""


def test_processes_forked_from_the_one_that_keeps_a_corpus_read_it_all_at_once() -> None:
    program = """
for _ in range(3):
    children.append(os.fork())
    if not children[-1]:
        os._exit(any(held(store) != whole for _ in range(40)))
print([os.waitpid(child, 0)[1] for child in children], held(store) == whole)
"""
    assert run_script(FORKED + program).stdout.split() == ["[0,", "0,", "0]", "True"]


def test_a_forked_process_writes_nothing_into_the_file_of_the_one_it_came_from() -> None:
    program = """
children.append(os.fork())
if not children[-1]:
    store.append(sentence(8))
    os._exit(store.complete)
store.append(sentence(9))
print(os.waitpid(children[0], 0)[1], held(store) == [*whole, ({9}, [10_000, 10_000])])
"""
    assert run_script(FORKED + program).stdout.split() == ["0", "True"]


def test_a_file_that_has_lost_its_end_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ids"
    monkeypatch.setattr(encoded, "_unnamed_file", lambda directory: path.open("w+b"))
    store = EncodedStore(CacheBudget(0, 100))
    store.append(sentence(1, 2, 3))
    os.truncate(path, 10)
    with pytest.raises(OSError, match=r"ends at byte 10, 6 bytes too early.*cache_dir"):
        held(store)
    store.close()
