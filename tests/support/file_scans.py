"""What a scan of a corpus file is compared with, and how much of the file it may keep."""

from __future__ import annotations

import tempfile
from codecs import BOM_UTF8
from collections import Counter
from itertools import chain
from pathlib import Path

from gensim.models.word2vec import LineSentence

from gensim_tfw2v.corpus.cache import CacheBudget
from gensim_tfw2v.corpus.file_scan import FileScan

NO_CACHE = CacheBudget(0, 0, None)
IN_MEMORY = CacheBudget(2**24, 0, None)


def gensim_sentences(path: Path) -> list[list[str]]:
    """Return what LineSentence yields of a file after its byte order mark, which LineSentence takes for text."""
    if path.suffix != ".txt" or not path.read_bytes().startswith(BOM_UTF8):
        return list(LineSentence(str(path)))
    with tempfile.TemporaryDirectory() as folder:
        markless = Path(folder, "corpus.txt")
        markless.write_bytes(path.read_bytes().removeprefix(BOM_UTF8))
        return list(LineSentence(str(markless)))


def assert_scan_equals_gensim(scan: FileScan, path: Path) -> None:
    """Compare counts, order of first appearance and totals with LineSentence's."""
    sentences = gensim_sentences(path)
    counts = Counter(chain.from_iterable(sentences))
    assert dict(zip(scan.words, scan.counts.tolist(), strict=True)) == counts
    assert scan.words == list(counts)
    assert (scan.total_words, scan.sentence_count) == (counts.total(), len(sentences))
