"""Documents, which are words with tags → chunks of ids, each sentence with the number of its document's tags."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.corpus.chunks import Chunk, Pieces
from gensim_tfw2v.corpus.iterable_source import IterableSource
from gensim_tfw2v.corpus.sentences import DocumentTags, Sentences
from gensim_tfw2v.corpus.sources import Reading

logger = logging.getLogger(__name__)


class TagLists:
    """Numbers of lists of tags: a list of one tag has the tag's index, and longer ones come after all tags.

    Parameters
    ----------
    index_of : callable
        Returns the index of a tag, -1 for a tag without a vector.
    tags : int
        How many tags have a vector.
    counts : ndarray, optional
        How many documents of the corpus have each tag. Default: not known.
    """

    def __init__(self, index_of: Callable[[Any], int], tags: int, counts: npt.NDArray[Any] | None = None) -> None:
        self._index_of, self._tags, self._counts = index_of, tags, counts
        self._numbers: dict[tuple[int, ...], int] = {}
        self._lists: list[tuple[int, ...]] = []  # those of several tags

    def __len__(self) -> int:
        """How many tags have a vector."""
        return self._tags

    def number(self, tags: Iterable[Any]) -> int:
        """Return the number of a list, -1 if none of its tags has a vector. Call this from one thread at a time."""
        found = tuple(index for index in map(self._index_of, tags) if index >= 0)
        if len(found) == 1:
            return found[0]
        if not found:
            return -1
        number = self._numbers.get(found)
        if number is None:
            number = self._numbers[found] = self._tags + len(self._lists)
            self._lists.append(found)
        return number

    def with_tags(self, sentences: Sentences) -> Sentences:
        """Return sentences with their own lists of tags, so that nothing else is needed to train them."""
        if sentences.documents is None:
            return sentences
        numbers, documents = np.unique(sentences.documents, return_inverse=True)
        if not numbers.size or 0 <= numbers[0] <= numbers[-1] < self._tags:
            indices, offsets = numbers, np.arange(len(numbers) + 1, dtype=np.int32)
        else:
            lists = [self._list(number) for number in numbers.tolist()]
            indices = np.fromiter(chain.from_iterable(lists), np.int32)
            offsets = np.cumsum([0, *map(len, lists)], dtype=np.int32)
        are_unique = np.zeros(indices.size, bool) if self._counts is None else self._counts[indices] == 1
        tags = DocumentTags(indices, offsets, are_unique)
        return replace(sentences, documents=documents.astype(np.int32), tags=tags)

    def _list(self, number: int) -> tuple[int, ...]:
        if number < 0:
            return ()
        return (number,) if number < self._tags else self._lists[number - self._tags]


class DocumentSource(IterableSource):
    """An iterable of documents that can be iterated over again, such as gensim's `TaggedDocument`.

    A document is one sentence, however many words it has. Its tags are read together with its words, so that documents
    may come in another order in each pass.

    Parameters
    ----------
    documents : iterable
        Each document has `words` and `tags`.
    tags : TagLists
        Numbers their tags.
    """

    def __init__(self, documents: Iterable[Any], tags: TagLists, reading: Reading) -> None:
        super().__init__(documents, reading)
        self._tags = tags
        self._has_warned = False

    def epoch(self, number: int = 0) -> Generator[Chunk, None, None]:
        with closing(super().epoch(number)) as chunks:
            for chunk in chunks:
                assert isinstance(chunk.content, Sentences)  # as of all iterables
                yield replace(chunk, content=self._tags.with_tags(chunk.content))

    def _read_in_batches(self, words: int, pieces: int) -> Generator[Pieces, None, None]:
        read = _WordsOfDocuments(self._sentences, self._tags)
        with closing(self._in_batches(read, words, pieces, are_cut=False)) as found:
            for some in found:
                yield Pieces(replace(some.sentences, documents=read.take(some.begun.size)), some.begun)
        if read.warning is not None and not self._has_warned:
            logger.warning(read.warning)
            self._has_warned = True


class _WordsOfDocuments:
    """The words of documents. While they are read, the numbers of the documents' tags wait to be taken.

    Attributes
    ----------
    warning : str, optional
        What to say of documents that have tags, and none with a vector, once all are read.
    """

    def __init__(self, documents: Iterable[Any], tags: TagLists) -> None:
        self._documents, self._tags = documents, tags
        self._waiting: list[int] = []
        self.warning: str | None = None

    def __iter__(self) -> Iterator[Any]:
        position, unknown, first = -1, 0, ""
        for position, document in enumerate(self._documents):
            words, tags = words_and_tags(document, position)
            number = self._tags.number(tags)
            if number < 0 and list(tags):
                unknown += 1
                first = first or f"number {position}, with the tags {tags!r}"
            self._waiting.append(number)
            yield words
        if unknown:
            self.warning = (
                f"{unknown} of {position + 1} documents have no tag with a vector (first: {first}); call "
                "build_vocab(..., update=True) to train vectors of them"
            )

    def take(self, count: int) -> Int32Array:
        """Return the numbers of the next documents."""
        taken = np.array(self._waiting[:count], np.int32)
        del self._waiting[:count]
        return taken


def documents_with_words_and_tags(documents: Iterable[Any]) -> Iterator[Any]:
    """Yield documents; raise TypeError naming the first one that has no words or no tags."""
    for position, document in enumerate(documents):
        words_and_tags(document, position)
        yield document


def words_and_tags(document: Any, position: int) -> tuple[Any, Any]:
    """Return the words and the tags of a document; raise TypeError naming it if it has none."""
    try:
        return document.words, document.tags
    except AttributeError:
        text = repr(document)
        shown = text if len(text) <= 60 else text[:60] + "..."
        raise TypeError(
            f"document number {position} is {shown} of type {type(document).__name__}; each document must have words "
            "and tags: use gensim.models.doc2vec.TaggedDocument(words, tags)"
        ) from None
