"""A corpus of text → two encoded corpora: sentences to train, and sentences that are held out."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.corpus.encode import read_corpus
from gensim_tfw2v.corpus.fixed_draws import fractions, key_of
from gensim_tfw2v.corpus.number_sentences import NumberTable
from gensim_tfw2v.corpus.raw_vocabulary import RawVocabulary
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shard_writer import ShardWriter
from gensim_tfw2v.corpus.shards import EncodedCorpus

_SPLIT = 0x73706C74  # purpose of random numbers
TRAINED, HELD_OUT = "trained", "held-out"  # folders of the two corpora


def encode_split(
    corpus: str | os.PathLike[str],
    folder: Path,
    held_out: float,
    trained: float,
    seed: int,
    column: str | None = None,
) -> tuple[EncodedCorpus, EncodedCorpus]:
    """Write the sentences of a text to two new folders, in one pass; return the trained and the held-out corpus.

    The number of a sentence and the seed decide where it goes. Each of the two is what `encode_corpus` makes of a text
    of its sentences.

    Parameters
    ----------
    corpus, column
        As for `encode_corpus`.
    folder : Path
        An empty folder.
    held_out : float
        The share of the sentences that is held out, above 0 and below 1.
    trained : float
        The share of the other sentences that is trained, above 0 and at most 1. The rest is in neither corpus.
    seed : int
        What the draw of sentences follows from.
    """
    last = held_out + (1.0 - held_out) * trained
    key, seen = key_of([seed], _SPLIT), 0
    with contextlib.ExitStack() as stack:
        parts = {name: stack.enter_context(contextlib.closing(_Part(folder / name))) for name in (TRAINED, HELD_OUT)}

        def keep(sentences: Sentences) -> None:
            nonlocal seen
            drawn = fractions(key, np.arange(seen, seen + sentences.lengths.size))
            seen += sentences.lengths.size
            parts[HELD_OUT].append(sentences.whole(drawn < held_out))
            parts[TRAINED].append(sentences.whole((drawn >= held_out) & (drawn < last)))

        words, _ = read_corpus(corpus, keep, column=column)
        for name, share in ((HELD_OUT, held_out), (TRAINED, trained)):
            if parts[name].is_empty:
                raise ValueError(f"a share of {share} of the {seen} sentences of corpus {os.fspath(corpus)!r} is none")
            parts[name].finish(words)
    return EncodedCorpus(folder / TRAINED), EncodedCorpus(folder / HELD_OUT)


class _Part:
    """Writes some of a corpus's sentences as an encoded corpus of its own, whose words have numbers of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._writer = ShardWriter(folder, tuning.SHARD_WORDS)
        self._vocabulary = RawVocabulary()  # its words are numbers of the whole corpus's words
        self._table = NumberTable(self._vocabulary.numbers)

    @property
    def is_empty(self) -> bool:
        """Whether there is no sentence."""
        return not len(self._vocabulary)

    def append(self, sentences: Sentences) -> None:
        """Write more sentences, whose words have the whole corpus's numbers."""
        ids = self._table.ids(sentences.ids)
        self._vocabulary.add(*np.unique(ids, return_counts=True))
        self._writer.append(Sentences(ids, sentences.lengths))

    def finish(self, words: list[str]) -> None:
        """End the corpus; `words` has those of the whole one."""
        numbers, counts = self._vocabulary.words_and_counts()
        self._writer.finish(zip((words[number] for number in numbers), counts.tolist(), strict=True))

    def close(self) -> None:
        """Close the open file."""
        self._writer.close()
