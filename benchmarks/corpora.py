"""Cuts corpora for measurements."""

from __future__ import annotations

from pathlib import Path


def cut_corpus(corpus: Path, words: int, path: Path) -> None:
    """Write the first lines of a corpus, until they have so many words, to `path`."""
    with corpus.open("rb") as lines, path.open("wb") as cut:
        for line in lines:
            cut.write(line)
            words -= len(line.split())
            if words <= 0:
                return
