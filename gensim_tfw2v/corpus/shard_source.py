"""An encoded corpus as chunks that name spans of its shards: no word of it passes through here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Mapping

from gensim_tfw2v.corpus.chunks import Chunk, spans_of
from gensim_tfw2v.corpus.shards import EncodedCorpus
from gensim_tfw2v.corpus.sources import Source


class EncodedSource(Source):
    """An encoded corpus, of which whoever trains a chunk reads it.

    Parameters
    ----------
    corpus : EncodedCorpus
        The corpus. A chunk does not go on from one of its shards to the next.
    key_to_index : mapping
        Int32Array of the known words.
    words_per_chunk : int
        A chunk ends with the first sentence that brings it to so many words.
    """

    def __init__(self, corpus: EncodedCorpus, key_to_index: Mapping[str, int], words_per_chunk: int) -> None:
        self._corpus = corpus
        self._words_per_chunk = words_per_chunk
        self.reader = corpus.reader(key_to_index)

    def epoch(self) -> Generator[Chunk, None, None]:
        """Yield the chunks of one pass over the whole corpus."""
        number = 0
        for shard in range(len(self._corpus.shards)):
            for span in spans_of(shard, self._corpus.sentence_lengths(shard), self._words_per_chunk):
                words, sentences = span.end_word - span.first_word, span.end_sentence - span.first_sentence
                yield Chunk(number, span, words, sentences)
                number += 1

    def close(self) -> None:
        """Free nothing: no file stays open, and no word in memory."""


def raw_vocabulary(corpus: EncodedCorpus, max_vocab_size: int | None) -> defaultdict[str, int]:
    """Return the counts that an encoded corpus brings, as gensim's ``raw_vocab``."""
    if max_vocab_size:
        raise ValueError(
            f"max_vocab_size={max_vocab_size} cannot be had of an encoded corpus, whose words are counted already; "
            "leave it out, or use max_final_vocab"
        )
    return defaultdict(int, corpus.counts())
