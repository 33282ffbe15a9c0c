"""TaggedLines yields the documents of a text with the tags that stand before a tab."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import pytest

from gensim_tfw2v import TaggedLines

TEXT = "\ufeffone two\tthe  cat\u00a0sat\n\n \t \nthree\t\r\nfour\ttab\ttab\n"
EXPECTED = [(["the", "cat", "sat"], ["one", "two"]), ([], ["three"]), (["tab", "tab"], ["four"])]


@pytest.mark.parametrize("suffix", ["txt", "txt.gz", "txt.xz"])
def test_tags_and_words_are_divided_at_the_first_tab(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"documents.{suffix}"
    pack = {"txt": bytes, "txt.gz": gzip.compress, "txt.xz": lzma.compress}[suffix]
    path.write_bytes(pack(TEXT.encode()))
    documents = TaggedLines(path)
    for _ in range(2):
        assert [(document.words, document.tags) for document in documents] == EXPECTED


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "documents.txt.gz"
    path.write_bytes(gzip.compress(TEXT.encode() * 100)[:-20])
    with pytest.raises(ValueError, match=r"documents.txt.gz: the file is damaged"):
        list(TaggedLines(path))


def test_bytes_that_are_not_utf8_are_located(tmp_path: Path) -> None:
    path = tmp_path / "documents.txt"
    path.write_bytes(TEXT.encode() + b"five\t\xff\n")
    with pytest.raises(ValueError, match=rf"not UTF-8 text at byte {len(TEXT.encode()) + 5} \(0xff"):
        list(TaggedLines(path))
