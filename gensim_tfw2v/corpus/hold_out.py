"""What of a corpus is held out of training: a share of its sentences, or of the words of each document."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.arrays import BoolArray
from gensim_tfw2v.corpus.chunks import Pieces
from gensim_tfw2v.corpus.fixed_draws import fractions
from gensim_tfw2v.corpus.sentences import Sentences

Take = Callable[[Pieces], None]
"""Receives pieces of sentences that are held out, or of documents with held-out words."""


@dataclass(frozen=True)
class HoldOut:
    """Holds each sentence out with the probability `share`. The key and the sentence's number decide."""

    share: float
    key: int

    def chosen(self, numbers: npt.NDArray[np.integer]) -> BoolArray:
        """Return for each sentence, by its number in the corpus from 0, whether it is held out."""
        return np.asarray(fractions(self.key, numbers) < self.share)

    def without(self, pieces: Iterable[Pieces], take: Take | None = None) -> Generator[Pieces, None, None]:
        """Yield the pieces of the sentences that are trained, and give the others to `take`."""
        begun = 0  # sentences
        for some in pieces:
            numbers = begun - 1 + np.cumsum(some.begun, dtype=np.int64)
            begun += int(some.begun.sum())
            is_out = self.chosen(numbers)
            if is_out.any():
                if take is not None:
                    take(_chosen_of(some, is_out))
                yield _chosen_of(some, ~is_out)
            else:
                yield some


def _chosen_of(pieces: Pieces, chosen: BoolArray) -> Pieces:
    return Pieces(pieces.sentences.whole(chosen), pieces.begun[chosen])


@dataclass(frozen=True)
class WordHoldOut(HoldOut):
    """Holds each word of a document out with the probability `share`.

    The key, the document's tags, the word and its place there decide. So the same words are held out of documents that
    come in another order in each pass.
    """

    def chosen_words(self, sentences: Sentences) -> BoolArray:
        """Return whether each word is held out, if it is known and its document has a tag with a vector."""
        assert sentences.documents is not None
        is_known = sentences.ids >= 0
        places = np.cumsum(is_known, dtype=np.int64) - is_known  # how many known words are before a word
        begins = np.cumsum(sentences.lengths, dtype=np.int64) - sentences.lengths
        places -= np.repeat(np.append(places, 0)[begins], sentences.lengths)
        documents = np.repeat(sentences.documents.astype(np.int64), sentences.lengths)
        numbers = (documents << 40) ^ (places << 24) ^ sentences.ids
        return np.asarray(is_known & (documents >= 0) & (fractions(self.key, numbers) < self.share))

    def without(self, pieces: Iterable[Pieces], take: Take | None = None) -> Generator[Pieces, None, None]:
        """Yield the pieces without the words that are held out, and give whole pieces to `take`."""
        for some in pieces:
            sentences = some.sentences
            is_out = self.chosen_words(sentences)
            if take is not None:
                take(some)
            before = np.append(0, np.cumsum(is_out))
            ends = np.append(0, np.cumsum(sentences.lengths, dtype=np.int64))
            lengths = sentences.lengths - np.diff(before[ends]).astype(np.int32)
            yield Pieces(replace(sentences, ids=sentences.ids[~is_out], lengths=lengths), some.begun)
