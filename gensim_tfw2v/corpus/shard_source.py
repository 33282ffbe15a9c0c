"""An encoded corpus → chunks that name spans of its shards. No ids pass through this module."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Mapping

from gensim_tfw2v.corpus.chunks import Chunk, spans_of
from gensim_tfw2v.corpus.shards import EncodedCorpus
from gensim_tfw2v.corpus.sources import Source


class EncodedSource(Source):
    """An encoded corpus. The worker that trains a chunk reads its span.

    Parameters
    ----------
    corpus : EncodedCorpus
        The corpus. A chunk ends with its shard.
    key_to_index : mapping
        Ids of the known words.
    words_per_chunk : int
        A chunk ends with the first sentence that brings it to this many words.
    """

    def __init__(self, corpus: EncodedCorpus, key_to_index: Mapping[str, int], words_per_chunk: int) -> None:
        super().__init__()
        self._corpus = corpus
        self._words_per_chunk = words_per_chunk
        self.reader = corpus.reader(key_to_index)

    def epoch(self, number: int = 0) -> Generator[Chunk, None, None]:
        """Yield the chunks of one pass over the whole corpus."""
        chunk = 0
        for shard in range(len(self._corpus.shards)):
            for span in spans_of(shard, self._corpus.sentence_lengths(shard), self._words_per_chunk):
                words, sentences = span.end_word - span.first_word, span.end_sentence - span.first_sentence
                yield Chunk(chunk, span, words, sentences)
                chunk += 1

    def close(self) -> None:
        """Do nothing: no file is open, and no ids are in memory."""


def raw_vocabulary(corpus: EncodedCorpus, max_vocab_size: int | None) -> defaultdict[str, int]:
    """Return the word counts of an encoded corpus as gensim's ``raw_vocab``."""
    if max_vocab_size:
        raise ValueError(
            f"max_vocab_size={max_vocab_size} cannot be had of an encoded corpus, whose words are counted already; "
            "leave it out, or use max_final_vocab"
        )
    return defaultdict(int, corpus.counts())
