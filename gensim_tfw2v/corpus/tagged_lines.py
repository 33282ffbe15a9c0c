"""A text with a document a line, whose tags stand before a tab → documents with words and tags."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from gensim_tfw2v.corpus.text_file import after_mark, decompressed, not_utf8


class TaggedLine(NamedTuple):
    """A document, with the names that gensim's `TaggedDocument` has."""

    words: list[str]
    tags: list[str]


class TaggedLines:
    """The documents of a text, a line each, that begins with the document's tags and a tab.

    Spaces divide tags, as they divide words. A line of white space alone is no document. gensim's `TaggedLineDocument`,
    and `corpus_file`, take the number of a line as its tag instead.

    Parameters
    ----------
    path : str or os.PathLike
        The file, plain or compressed. It is read again in each pass.

    Examples
    --------
    >>> from gensim_tfw2v import TaggedLines, TFDoc2Vec
    >>> model = TFDoc2Vec(TaggedLines("posts.tsv"))  # doctest: +SKIP
    >>> vector = model.dv["post1"]  # doctest: +SKIP
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)

    def __iter__(self) -> Iterator[TaggedLine]:
        offset = 0
        with decompressed(self.path) as lines:
            for number, line in enumerate(lines, start=1):
                marked = after_mark(line) if number == 1 else line
                try:
                    text = marked.decode("utf-8")
                except UnicodeDecodeError as error:
                    raise not_utf8(self.path, offset + len(line) - len(marked), error) from None
                offset += len(line)
                tags, tab, words = text.partition("\t")
                if tab and tags.strip():
                    yield TaggedLine(words.split(), tags.split())
                elif text.strip():
                    found = "has no tag before its tab" if tab else "has no tab"
                    raise ValueError(
                        f"{self.path}: line {number} {found}; a line is tags, a tab and words, as in 'cats\\tcat meow'"
                    )
