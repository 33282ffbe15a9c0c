"""Text files, plain and compressed, beside gensim's LineSentence."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from gensim.models.word2vec import LineSentence
from hypothesis import strategies as st

from fuzzing.target import Target, assert_one_line, damaged, edits
from gensim_tfw2v.corpus.cache import CacheBudget
from gensim_tfw2v.corpus.file_scan import scan_file

_BUDGET = CacheBudget(2**26, 0, None)
_COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
_WORDS = ["a", "bb", "a", "é", "中文", "😀", "\x00", "\ufeff", "x" * 15, "x" * 16, "x" * 50]
_GAPS = [*" \n\r\t\x0b\x0c\x1c\x1f\x85\xa0\u1680\u2028\u3000", "\r\n", "\n\n"]
_LONG_LINE = "ab " * 10_001
_NOT_UTF8 = [b"\xff", b"\xc3", b"\xe4\xb8", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\x85", b"\xa0"]
_awkward = st.sampled_from([text.encode() for text in [*_WORDS, *_GAPS, *" \n \n \n", _LONG_LINE]])
_utf8 = st.lists(st.one_of(_awkward, st.text(max_size=20).map(str.encode)), max_size=60).map(b"".join)
_bytes = st.lists(st.one_of(_awkward, st.sampled_from(_NOT_UTF8), st.binary(max_size=8)), max_size=40).map(b"".join)
_texts = st.one_of(_utf8, _utf8.map(codecs.BOM_UTF8.__add__), _bytes)


def check_text(example: tuple[bytes, int]) -> None:
    """A plain file has LineSentence's sentences, after a byte order mark; an error names what is not UTF-8."""
    data, part_bytes = example
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "corpus.txt")
        path.write_bytes(data)
        markless = Path(folder, "markless.txt")
        markless.write_bytes(data.removeprefix(codecs.BOM_UTF8))
        part_bytes = max(part_bytes, len(data) // 100)  # a text of 10,000 words in parts of one byte takes seconds
        expected = _gensims(markless)
        if expected is None:
            _assert_refused(path, part_bytes)
        else:
            assert _sentences(path, part_bytes) == expected


def check_compressed(example: tuple[bytes, int, str, list[Any]]) -> None:
    """A damaged compressed file is refused with its name, or has the sentences that LineSentence finds."""
    data, part_bytes, suffix, changes = example
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"corpus.txt{suffix}")
        path.write_bytes(damaged(_COMPRESS[suffix](data), changes))
        try:
            found = _sentences(path, part_bytes)
        except ValueError as error:
            assert_one_line(str(error), path)
            assert changes or _gensims(path) is None
        else:
            assert found == _gensims(path)


def _gensims(path: Path) -> list[list[str]] | None:
    """Return LineSentence's sentences, None if it cannot read the file."""
    try:
        return list(LineSentence(str(path)))
    except (ValueError, EOFError, OSError, lzma.LZMAError):
        return None


def _sentences(path: Path, part_bytes: int) -> list[list[str]]:
    """Return the sentences that a scan finds."""
    scan = scan_file(path, 1, _BUDGET, part_bytes=part_bytes)
    try:
        sentences = []
        for encoded in scan.encoded:
            ids = iter(encoded.ids.tolist())
            sentences += [[scan.words[number] for number in islice(ids, size)] for size in encoded.lengths.tolist()]
        assert (scan.sentence_count, scan.total_words) == (len(sentences), sum(map(len, sentences)))
        return sentences
    finally:
        scan.close()


def _assert_refused(path: Path, part_bytes: int) -> None:
    try:
        _sentences(path, part_bytes)
    except ValueError as error:
        assert_one_line(str(error), path)
        assert "not UTF-8" in str(error)
    else:
        raise AssertionError("LineSentence refuses this text")


_part_bytes = st.one_of(st.integers(1, 60), st.just(2**20))
TEXT = Target(st.tuples(_texts, _part_bytes), check_text)
# LineSentence takes a mark for text.
_markless = _utf8.filter(lambda data: not data.startswith(codecs.BOM_UTF8))
COMPRESSED = Target(
    st.tuples(_markless, st.integers(100, 2**16), st.sampled_from(sorted(_COMPRESS)), st.one_of(st.just([]), edits)),
    check_compressed,
)
