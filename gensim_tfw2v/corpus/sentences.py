"""Whole sentences as word ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.arrays import BoolArray, Float32Array, Int32Array, aligned_empty, consecutive
from gensim_tfw2v.native.functions import call

MAX_SENTENCE_WORDS = 10_000
"""gensim's limit: a longer sentence is cut into pieces of this many words."""


@dataclass(frozen=True)
class DocumentTags:
    """The tags of some documents: document n has those of the indices [offsets[n]:offsets[n + 1]]."""

    indices: Int32Array
    offsets: Int32Array
    are_unique: BoolArray
    """Of each index: whether no other document of the corpus has the tag."""

    def of(self, documents: Int32Array) -> tuple[DocumentTags, Int32Array]:
        """Return the tags of these documents alone, each of which comes once, and their numbers among them."""
        used, numbers = np.unique(documents, return_inverse=True)
        sizes = np.diff(self.offsets)[used]
        places = consecutive(self.offsets[used], sizes)
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        return DocumentTags(self.indices[places], offsets, self.are_unique[places]), numbers.astype(np.int32)


@dataclass(frozen=True)
class Sentences:
    """Consecutive sentences: the ids of all their words, and each sentence's number of words, weight and tags."""

    ids: Int32Array
    lengths: Int32Array
    weights: Float32Array | None = None
    """How many occurrences each sentence counts as in training; None: each counts as one."""
    documents: Int32Array | None = None
    """The number of each sentence's list of tags, in `tags` or in `documents.TagLists`; None: there are no tags."""
    tags: DocumentTags | None = None
    """The lists that `documents` numbers; None: they are in this process's `documents.TagLists`."""

    @property
    def arrays(self) -> list[npt.NDArray[Any]]:
        """The arrays that there are, in their order, without those of `tags`."""
        return [array for array in (self.ids, self.lengths, self.weights, self.documents) if array is not None]

    @property
    def nbytes(self) -> int:
        """Bytes that these arrays take."""
        return sum(array.nbytes for array in self.arrays)

    def as_lists(self, words: Sequence[Any]) -> Iterator[list[Any]]:
        """Yield each sentence as a list of its words, which `words` has by their ids."""
        found = [words[word] for word in self.ids.tolist()]
        begin = 0
        for length in self.lengths.tolist():
            yield found[begin : begin + length]
            begin += length

    def chosen_by(self, function: str, *arguments: Any) -> Sentences:
        """Return the sentences with only the words that a C function keeps, without sentences that have none."""
        ids, lengths = aligned_empty(self.ids.size, np.int32), aligned_empty(self.lengths.size, np.int32)
        has_more = self.weights is not None or self.documents is not None
        numbers = np.empty(self.lengths.size, np.int32) if has_more else None  # of the sentences kept
        count = np.empty(1, np.int64)
        words = call(function, self.ids, self.lengths, *arguments, ids, lengths, count, numbers)
        kept = int(count[0])
        which = slice(kept) if numbers is None else numbers[:kept]
        return self._some(ids[:words], lengths[:kept], which)

    def known_words(self, table: Int32Array | None = None) -> Sentences:
        """Return the sentences without unknown words, whose id is -1.

        Parameters
        ----------
        table : ndarray, optional
            The id that each id is replaced by before, -1 for unknown words.
        """
        return self.chosen_by("known_words", table)

    def whole(self, chosen: BoolArray) -> Sentences:
        """Return the chosen sentences, all of whose words are kept."""
        return self if chosen.all() else self.at(np.flatnonzero(chosen))

    def at(self, numbers: npt.NDArray[np.integer]) -> Sentences:
        """Return the sentences of these numbers, in this order; a number may come several times."""
        lengths = self.lengths[numbers]
        places = consecutive(np.cumsum(self.lengths, dtype=np.int64)[numbers] - lengths, lengths)
        return self._some(self.ids[places], lengths, numbers)

    def between(self, words: slice, which: slice) -> Sentences:
        """Return some consecutive sentences, which have these words."""
        return self._some(self.ids[words], self.lengths[which], which)

    def _some(self, ids: Int32Array, lengths: Int32Array, which: Any) -> Sentences:
        """Return sentences of these words, with the weights and tags of those that an index chooses."""
        weights = None if self.weights is None else self.weights[which]
        documents = None if self.documents is None else self.documents[which]
        return Sentences(ids, lengths, weights, documents, self.tags)


def joined(parts: Sequence[Sentences]) -> Sentences:
    """Return the sentences of all parts, none of which has tags of its own."""
    weights = [part.weights for part in parts if part.weights is not None]
    documents = [part.documents for part in parts if part.documents is not None]
    empty = np.empty(0, np.int32)
    return Sentences(
        np.concatenate([empty, *(part.ids for part in parts)]),
        np.concatenate([empty, *(part.lengths for part in parts)]),
        np.concatenate(weights) if weights else None,
        np.concatenate(documents) if documents else None,
    )


class LineLengths:
    """Lengths of the sentences of a text that comes in parts, of which each may end within a line.

    Parameters
    ----------
    open_words : int
        Words, less than ``MAX_SENTENCE_WORDS``, that the line at the beginning has already.
    """

    def __init__(self, open_words: int = 0) -> None:
        self.open_words = open_words  # of the line that may continue in the next part

    def join(self, line_lengths: npt.NDArray[Any]) -> Int32Array:
        """Return the lengths of the sentences that are complete; overlong ones are cut as gensim does.

        Parameters
        ----------
        line_lengths : ndarray
            Words before the first line end of the part, between line ends, and after the last one.
        """
        line_lengths = line_lengths.copy()
        line_lengths[0] += self.open_words
        # Full pieces of the last line are complete. This bounds the memory that a line of gigabytes takes.
        self.open_words = int(line_lengths[-1]) % MAX_SENTENCE_WORDS
        line_lengths[-1] -= self.open_words
        return piece_lengths(line_lengths)

    def rest(self) -> Int32Array:
        """Return the length of the last line, if no line end follows it; the next part begins a new line."""
        open_words, self.open_words = self.open_words, 0
        return piece_lengths(np.array([open_words]))


def piece_lengths(lengths: npt.NDArray[Any]) -> Int32Array:
    """Return the lengths of sentences cut into pieces of at most ``MAX_SENTENCE_WORDS`` words, without empty ones."""
    lengths = lengths[lengths > 0]
    if not lengths.size or lengths.max() <= MAX_SENTENCE_WORDS:
        return lengths.astype(np.int32)
    pieces = -(-lengths // MAX_SENTENCE_WORDS)
    cut = np.full(int(pieces.sum()), MAX_SENTENCE_WORDS, dtype=np.int32)
    cut[np.cumsum(pieces) - 1] = lengths - (pieces - 1) * MAX_SENTENCE_WORDS
    return cut
