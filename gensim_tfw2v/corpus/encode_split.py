"""A corpus of text → two encoded corpora: sentences to train, and sentences that are held out."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Int32Array, Int64Array
from gensim_tfw2v.corpus.encode import read_corpus
from gensim_tfw2v.corpus.file_scan import ScanProgress
from gensim_tfw2v.corpus.fixed_draws import fractions, key_of
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shard_writer import ShardWriter
from gensim_tfw2v.corpus.shards import EncodedCorpus

_SPLIT = 0x73706C74  # purpose of random numbers
TRAINED, HELD_OUT = "trained", "held-out"  # folders of the two corpora


@dataclass(frozen=True)
class SplitCorpus:
    """Two encoded corpora that share no sentence."""

    trained: EncodedCorpus
    held_out: EncodedCorpus


def encode_split(
    corpus: str | os.PathLike[str],
    folder: Path,
    held_out: float,
    trained: float,
    seed: int,
    progress: ScanProgress | None = None,
    column: str | None = None,
) -> SplitCorpus:
    """Write the sentences of a corpus of text to two new folders in `folder`, in one pass over the text.

    The number of a sentence and the seed decide where it goes. Each of the two is what `encode_corpus` makes of a text
    of its sentences.

    Parameters
    ----------
    corpus, progress, column
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

        words, _ = read_corpus(corpus, keep, None, progress, column)
        for name, share in ((HELD_OUT, held_out), (TRAINED, trained)):
            if not parts[name].words:
                raise ValueError(f"a share of {share} of the {seen} sentences of corpus {os.fspath(corpus)!r} is none")
            parts[name].finish(words)
    return SplitCorpus(EncodedCorpus(folder / TRAINED), EncodedCorpus(folder / HELD_OUT))


class _Part:
    """Writes some of a corpus's sentences as an encoded corpus of its own, whose words have numbers of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.words = 0
        self._writer = ShardWriter(folder, tuning.SHARD_WORDS)
        self._own: Int32Array = np.empty(0, np.int32)  # the own number of each word of the whole corpus, or -1
        self._of_corpus: list[int] = []  # the number in the whole corpus of each own word
        self._counts: Int64Array = np.empty(0, np.int64)

    def append(self, sentences: Sentences) -> None:
        """Write more sentences, whose words have the whole corpus's numbers."""
        if not sentences.ids.size:
            return
        self._number(sentences.ids)
        ids: Int32Array = self._own[sentences.ids]
        counts = np.bincount(ids, minlength=len(self._of_corpus))
        counts[: self._counts.size] += self._counts
        self._counts = counts
        self._writer.append(Sentences(ids, sentences.lengths))
        self.words += ids.size

    def finish(self, words: list[str]) -> None:
        """End the corpus; `words` has those of the whole one."""
        own = (words[number] for number in self._of_corpus)
        self._writer.finish(zip(own, self._counts.tolist(), strict=True))

    def close(self) -> None:
        """Close the open file."""
        self._writer.close()

    def _number(self, ids: Int32Array) -> None:
        """Give words that are new here the next numbers, in the order of their first appearance."""
        more = int(ids.max()) + 1 - self._own.size
        if more > 0:
            self._own = np.concatenate([self._own, np.full(more, -1, np.int32)])
        found, first = np.unique(ids, return_index=True)
        is_new = self._own[found] < 0
        new = found[is_new][np.argsort(first[is_new])]
        self._own[new] = np.arange(len(self._of_corpus), len(self._of_corpus) + new.size, dtype=np.int32)
        self._of_corpus += new.tolist()
