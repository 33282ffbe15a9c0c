"""A corpus file read in parts, by one process or several, is what gensim's LineSentence reads."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import pickle
import sys
import tempfile
from codecs import BOM_UTF8
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.file_scans import IN_MEMORY, NO_CACHE, assert_scan_equals_gensim, gensim_sentences
from support.plain_chunks import expected_chunks, plain_epoch

from gensim_tfw2v import tuning
from gensim_tfw2v.corpus import file_parts
from gensim_tfw2v.corpus.file_scan import scan_file
from gensim_tfw2v.corpus.sources import CacheBudget, FileSource, Reading

WORDS = ["a", "bb", "a", "é", "中文", "😀", "\x00", "\ufeff", "x" * 50]
GAPS = ["\n\n", "\r\n", *" \n\r\t\x0b\x0c\x1c\x1f\x85\xa0\u2028\u3000"]

texts = st.lists(st.sampled_from(WORDS + GAPS + [" "] * 5 + ["\n"] * 3), max_size=80).map("".join)


def ugly_text(lines: int) -> str:
    """Return lines of 0 to 25,000 words with odd white space between them, the last line unfinished."""
    random = np.random.default_rng(7)
    gaps = [gap for gap in GAPS if "\n" not in gap]
    sizes = [*random.integers(0, 40, size=lines).tolist(), 10_000, 0, 25_000, 20_000, 3]
    return "\n".join(
        "".join(f"w{random.integers(0, 99)}é{gaps[random.integers(0, len(gaps))]}" for _ in range(size))
        for size in sizes
    )


def gensim_chunks(path: Path, ids: dict[str, int], words_per_chunk: int) -> list[tuple[object, ...]]:
    """Return the chunks made word by word from what LineSentence yields."""
    return list(expected_chunks(gensim_sentences(path), ids, words_per_chunk))


@given(text=texts, part_bytes=st.integers(1, 60), piece_bytes=st.integers(1, 30), dictionary=st.integers(0, 6))
def test_any_text_in_parts_of_any_size_scans_as_gensim_does(
    text: str, part_bytes: int, piece_bytes: int, dictionary: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "TOKENIZER_PIECE_BYTES", piece_bytes)
        patch.setattr(tuning, "TOKENIZER_WORDS", dictionary)
        patch.setattr(tuning, "TOKENIZER_TABLE_BITS", 2)
        path = Path(folder, "corpus.txt")
        path.write_bytes(text.encode())
        assert_scan_equals_gensim(scan_file(path, 1, IN_MEMORY, part_bytes=part_bytes), path)


@given(text=texts, part_bytes=st.integers(1, 60), words_per_chunk=st.integers(1, 30))
def test_any_text_yields_gensims_sentences_read_anew_or_from_a_scan(
    text: str, part_bytes: int, words_per_chunk: int
) -> None:
    ids = {"é": 0, "a": 1, "x" * 50: 2, "\ufeff": 3}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "corpus.txt")
        path.write_bytes(text.encode())
        scan = scan_file(path, 1, IN_MEMORY, part_bytes=part_bytes)
        expected = gensim_chunks(path, ids, words_per_chunk)
        for budget, found in ((NO_CACHE, None), (IN_MEMORY, None), (NO_CACHE, scan)):
            source = FileSource(path, Reading(ids, words_per_chunk, budget), 1, found, part_bytes=part_bytes)
            assert [plain_epoch(source), plain_epoch(source)] == [expected, expected]


@settings(max_examples=5)
@given(text=st.lists(texts, min_size=4, max_size=4).map(" ".join), part_bytes=st.integers(5, 40))
def test_any_text_read_by_several_processes_yields_gensims_sentences(text: str, part_bytes: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "corpus.txt")
        path.write_bytes(text.encode())
        scan = scan_file(path, 2, IN_MEMORY, part_bytes=part_bytes)
        assert_scan_equals_gensim(scan, path)
        ids = {word: number for number, word in enumerate(scan.words)}
        source = FileSource(path, Reading(ids, 20, NO_CACHE), 3, part_bytes=part_bytes)
        assert plain_epoch(source) == gensim_chunks(path, ids, 20)


@pytest.mark.parametrize("workers", [1, 3])
def test_overlong_lines_are_cut_where_gensim_cuts_them(corpus: Callable[[str], Path], workers: int) -> None:
    path = corpus(ugly_text(200))
    scan = scan_file(path, workers, IN_MEMORY, part_bytes=20_000)
    assert_scan_equals_gensim(scan, path)
    ids = {word: number for number, word in enumerate(scan.words[::3])}
    for found in (scan, None):
        source = FileSource(path, Reading(ids, 3_000, NO_CACHE), workers, found, part_bytes=20_000)
        assert plain_epoch(source) == gensim_chunks(path, ids, 3_000)


def test_an_endless_line_is_handed_on_before_its_end_is_read(tmp_path: Path) -> None:
    path = tmp_path / "line.txt"
    path.write_bytes(b"word " * 300_000 + b"\xff")
    epoch = FileSource(path, Reading({"word": 0}, 10_000, NO_CACHE), 1, part_bytes=50_000).epoch()
    assert [next(epoch).content.lengths.tolist() for _ in range(29)] == [[10_000]] * 29
    with pytest.raises(ValueError, match="not UTF-8 text at byte 1500000"):
        list(epoch)


def test_files_read_by_several_processes_number_words_by_first_appearance(
    corpus: Callable[[str], Path],
) -> None:
    path = corpus("".join(f"w{number % 977} v{number}\n" for number in range(5_000)))
    assert_scan_equals_gensim(scan_file(path, 3, NO_CACHE, part_bytes=4_000), path)


@pytest.mark.parametrize("text", ["", "\n", "\n\n \n", " "])
def test_a_file_without_words_has_no_sentences_and_no_chunks(corpus: Callable[[str], Path], text: str) -> None:
    path = corpus(text)
    scan = scan_file(path, 2, IN_MEMORY)
    assert (scan.words, scan.counts.tolist(), scan.total_words, scan.sentence_count) == ([], [], 0, 0)
    assert plain_epoch(FileSource(path, Reading({"a": 0}, 10, NO_CACHE), 2, scan)) == []


def test_a_vocabulary_that_misses_everything_still_counts_words(corpus: Callable[[str], Path]) -> None:
    path = corpus("a b\nc\n")
    assert plain_epoch(FileSource(path, Reading({}, 10, IN_MEMORY), 1)) == [(0, [], [], 3, 2)]


FORMATS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
FORMATS_AND_WORKERS = [
    pytest.param(*format_, workers, marks=[] if format_[0] == ".gz" and workers > 1 else pytest.mark.slow)
    for format_ in FORMATS.items()
    for workers in (1, 3)
]


@pytest.mark.parametrize(("suffix", "compress", "workers"), FORMATS_AND_WORKERS)
def test_a_compressed_file_is_read_decompressed(
    tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes], workers: int
) -> None:
    path = tmp_path / f"corpus.txt{suffix}"
    path.write_bytes(compress(ugly_text(50).encode()))
    scan = scan_file(path, workers, NO_CACHE, part_bytes=100)
    assert_scan_equals_gensim(scan, path)
    ids = {word: number for number, word in enumerate(scan.words)}
    source = FileSource(path, Reading(ids, 500, NO_CACHE), workers, part_bytes=100)
    assert plain_epoch(source) == gensim_chunks(path, ids, 500)


@pytest.mark.parametrize(("suffix", "compress", "workers"), FORMATS_AND_WORKERS)
@pytest.mark.parametrize("damage", ["cut off", "not compressed", "overwritten"])
def test_a_damaged_compressed_file_is_named(
    tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes], damage: str, workers: int
) -> None:
    path = tmp_path / f"corpus.txt{suffix}"
    whole = compress(ugly_text(50).encode())
    middle = len(whole) // 2
    damaged = {
        "cut off": whole[:-10],
        "not compressed": b"the quick brown fox\n" * 99,
        "overwritten": whole[:middle] + bytes(20) + whole[middle + 20 :],
    }
    path.write_bytes(damaged[damage])
    with pytest.raises(ValueError, match=rf"corpus\.txt\{suffix}: the file is damaged: "):
        scan_file(path, workers, NO_CACHE, part_bytes=100)


def test_the_corpus_is_not_read_again_while_the_scan_keeps_it(
    corpus: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = corpus("a b\nc a\n")
    scan = scan_file(path, 1, IN_MEMORY)
    monkeypatch.setattr(file_parts, "read_parts", None)
    source = FileSource(str(path), Reading({"a": 0, "c": 1}, 10, IN_MEMORY), 1, scan)
    assert plain_epoch(source) == [(0, [0, 1, 0], [1, 2], 4, 2)]


@pytest.mark.parametrize("budget", [NO_CACHE, CacheBudget(8, 8, None)])
def test_a_scan_beyond_its_budget_keeps_counts_only(corpus: Callable[[str], Path], budget: CacheBudget) -> None:
    path = corpus("a b\nc a\n")
    scan = scan_file(path, 1, budget)
    assert not scan.encoded.complete
    assert scan.counts.tolist() == [2, 1, 1]
    assert plain_epoch(FileSource(path, Reading({"a": 0}, 10, NO_CACHE), 1, scan)) == [(0, [0, 0], [1, 1], 4, 2)]


def test_a_scan_kept_on_disk_leaves_no_file_behind(corpus: Callable[[str], Path], tmp_path: Path) -> None:
    path = corpus("a b\nc a\n")
    cache = tmp_path / "cache"
    cache.mkdir()
    scan = scan_file(path, 1, CacheBudget(0, 2**20, str(cache)))
    source = FileSource(path, Reading({"a": 0}, 10, NO_CACHE), 1, scan)
    assert scan.encoded.complete
    assert plain_epoch(source) == [(0, [0, 0], [1, 1], 4, 2)]
    scan.close()
    assert list(cache.iterdir()) == []
    assert plain_epoch(source) == [(0, [0, 0], [1, 1], 4, 2)]


def test_an_unchanged_file_matches_its_scan_by_any_spelling_of_its_path(
    corpus: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = corpus("a b\n")
    scan = scan_file(path, 1, IN_MEMORY)
    monkeypatch.chdir(path.parent)
    assert scan.matches(path)
    assert scan.matches("./corpus.txt")


def test_a_file_changed_in_place_does_not_match_and_is_read_again(corpus: Callable[[str], Path]) -> None:
    path = corpus("a b\n")
    scan = scan_file(path, 1, IN_MEMORY)
    os.utime(corpus("b b\n"), ns=(1, 1))
    assert not scan.matches(path)
    assert plain_epoch(FileSource(path, Reading({"a": 0, "b": 1}, 9, NO_CACHE), 1, scan)) == [(0, [1, 1], [2], 2, 1)]


def test_a_file_replaced_by_one_of_equal_size_and_time_does_not_match(corpus: Callable[[str], Path]) -> None:
    path = corpus("a b\n")
    state = path.stat()
    scan = scan_file(path, 1, IN_MEMORY)
    other = path.with_name("other.txt")
    other.write_text("b b\n")
    os.utime(other, ns=(state.st_atime_ns, state.st_mtime_ns))
    other.replace(path)
    assert not scan.matches(path)


def test_a_deleted_file_or_another_one_does_not_match(corpus: Callable[[str], Path]) -> None:
    path = corpus("a b\n")
    scan = scan_file(path, 1, IN_MEMORY)
    other = path.with_name("other.txt")
    other.write_text("a b\n")
    assert not scan.matches(other)
    path.unlink()
    assert not scan.matches(path)


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_tells_growing_totals(corpus: Callable[[str], Path], workers: int) -> None:
    path = corpus("a b\nc\n" * 500)
    calls: list[tuple[int, int, int]] = []
    scan_file(path, workers, NO_CACHE, lambda *totals: calls.append(totals), part_bytes=500)
    assert len(calls) == 6
    assert calls == sorted(calls)
    assert calls[-1] == (1500, 3, 1000)


TEXT = "human user\r\nuser\r\n"


@pytest.mark.parametrize("part_bytes", [1, 2, 3, 4, 7, 1000])
@pytest.mark.parametrize(("suffix", "compress"), [(".txt", bytes), (".txt.gz", gzip.compress)])
def test_a_byte_order_mark_is_no_part_of_the_first_word(
    tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes], part_bytes: int
) -> None:
    path = tmp_path / f"corpus{suffix}"
    path.write_bytes(compress(BOM_UTF8 + TEXT.encode()))
    scan = scan_file(path, 2, IN_MEMORY, part_bytes=part_bytes)
    assert (scan.words, scan.counts.tolist(), scan.sentence_count) == (["human", "user"], [1, 2], 2)
    source = FileSource(path, Reading({"human": 0, "user": 1}, 10, NO_CACHE), 1, part_bytes=part_bytes)
    assert plain_epoch(source) == [(0, [0, 1, 1], [2, 1], 3, 2)]


def test_only_the_first_mark_is_left_out(corpus: Callable[[str], Path]) -> None:
    assert scan_file(corpus("\ufeff\ufeffa \ufeffb\n\ufeffc\n"), 1, NO_CACHE).words == ["\ufeffa", "\ufeffb", "\ufeffc"]


@pytest.mark.parametrize("text", ["\ufeff", "\ufeff\n", "\ufeff \r\n"])
def test_a_file_of_a_mark_alone_has_no_words(corpus: Callable[[str], Path], text: str) -> None:
    assert scan_file(corpus(text), 1, NO_CACHE).total_words == 0


@pytest.mark.parametrize(("suffix", "compress"), [(".txt", bytes), (".txt.gz", gzip.compress)])
def test_bytes_after_a_mark_are_located_from_the_beginning_of_the_file(
    tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / f"latin1{suffix}"
    path.write_bytes(compress(BOM_UTF8 + b"good caf\xe9 line\n"))
    with pytest.raises(ValueError, match=r"not UTF-8 text at byte 11 \(0xe9"):
        scan_file(path, 1, NO_CACHE)


def test_a_scan_stands_for_a_file_that_was_deleted_since(corpus: Callable[[str], Path]) -> None:
    path = corpus("a b\nc a\n")
    scan, unkept = scan_file(path, 1, IN_MEMORY), scan_file(path, 1, NO_CACHE)
    path.unlink()
    assert scan.stands_for(path)
    assert not unkept.stands_for(path)
    source = FileSource(path, Reading({"a": 0, "c": 1}, 10, NO_CACHE), 1, scan)
    assert plain_epoch(source) == [(0, [0, 1, 0], [1, 2], 4, 2)]


@pytest.mark.parametrize("workers", [1, 2])
def test_bytes_that_are_not_utf8_are_located(tmp_path: Path, workers: int) -> None:
    path = tmp_path / "latin1.txt"
    path.write_bytes("good é line\n".encode() * 200 + "caf\xe9 here\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"latin1\.txt: not UTF-8 text at byte 2603 \(0xe9"):
        scan_file(path, workers, NO_CACHE, part_bytes=100)


def test_a_missing_decompressor_is_an_error_that_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("zstandard", "backports", "compression"):
        monkeypatch.setitem(sys.modules, module, None)
    path = tmp_path / "corpus.txt.zst"
    path.write_bytes(b"")
    with pytest.raises(ImportError, match=r'corpus\.txt\.zst needs the package "smart_open\[zst\]"') as found:
        scan_file(path, 1, NO_CACHE, part_bytes=100)
    again = pickle.loads(pickle.dumps(found.value))  # as a reading process sends it
    assert (type(again), str(again)) == (type(found.value), str(found.value))


@pytest.mark.parametrize("workers", [1, 2])
def test_bytes_that_are_not_utf8_are_located_in_a_compressed_file(tmp_path: Path, workers: int) -> None:
    path = tmp_path / "latin1.txt.gz"
    path.write_bytes(gzip.compress(b"good line\n" * 200 + "caf\xe9".encode("latin-1")))
    with pytest.raises(ValueError, match=r"latin1\.txt\.gz: not UTF-8 text at byte 2003 \(0xe9"):
        scan_file(path, workers, NO_CACHE, part_bytes=8)
