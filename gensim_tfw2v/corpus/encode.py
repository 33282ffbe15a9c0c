"""Corpus files → encoded corpora: folders of shards of ids, which workers read directly, and faster than text."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from pathlib import Path

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Int64Array
from gensim_tfw2v.corpus.child_program import can_start
from gensim_tfw2v.corpus.file_parts import file_parts
from gensim_tfw2v.corpus.file_scan import ScanProgress, count_parts
from gensim_tfw2v.corpus.fixed_draws import fractions, key_of
from gensim_tfw2v.corpus.number_sentences import NumberTable
from gensim_tfw2v.corpus.raw_vocabulary import RawVocabulary
from gensim_tfw2v.corpus.sections.coordination import encode_sections
from gensim_tfw2v.corpus.sections.encoders import Encoder, ProcessEncoder
from gensim_tfw2v.corpus.sections.plan import sections_of
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shard_writer import ShardWriter, as_lines
from gensim_tfw2v.corpus.shards import EncodedCorpus
from gensim_tfw2v.files.whole_files import written_folder
from gensim_tfw2v.runtime.tensorflow import usable_cores

_SPLIT = 0x73706C74  # purpose of random numbers
TRAINED, HELD_OUT = "trained", "held-out"  # folders of the two corpora of a split


def encode_corpus(
    corpus: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    workers: int | None = None,
    shard_words: int = tuning.SHARD_WORDS,
    progress: ScanProgress | None = None,
    column: str | None = None,
    processes: int | None = None,
) -> EncodedCorpus:
    """Write a corpus of text as ids to a new folder, which `TFWord2Vec` accepts as ``corpus_file``.

    All words are kept, including rare ones, because each model chooses its own vocabulary. The folder appears when it
    is complete and on the disk.

    Parameters
    ----------
    corpus : str or os.PathLike
        A file of one sentence a line, plain or compressed, or a table of Parquet or Arrow, or a folder of such files,
        read in the order of their names.
    folder : str or os.PathLike
        The folder to write. It must not exist yet.
    workers : int, optional
        Reading processes; by default one for each usable core.
    shard_words : int, optional
        A shard ends once it has this many words.
    progress : callable, optional
        Called after each part of a file with the words, distinct words and sentences so far. With `processes`, it is
        called after each section, and the last two numbers are approximate.
    column : str, optional
        The column of tables that has the sentences, if more than one could. Whole numbers become text.
    processes : int, optional
        Processes that encode sections of the corpus side by side, instead of reading processes. They write the same
        files. Meanwhile the disk needs about twice the space. A section is at most 128 MB of plain text, or a whole
        compressed file or table.

    Examples
    --------
    >>> from gensim_tfw2v import Word2Vec, encode_corpus
    >>> encoded = encode_corpus("corpus.txt", "corpus.ids")
    >>> model = Word2Vec(corpus_file="corpus.ids", epochs=1)
    """
    if processes is not None:
        if workers is not None:
            raise ValueError(f"give workers={workers!r} or processes={processes!r}, and not both")
        if processes < 1:
            raise ValueError(f"processes must be at least 1, got {processes!r}")
        if processes > 1 and can_start():
            encoders = [ProcessEncoder() for _ in range(processes)]
            return encode_with(encoders, corpus, folder, shard_words=shard_words, progress=progress, column=column)
        workers = 1
    with _new_folder(folder, shard_words) as unfinished, closing(ShardWriter(unfinished, shard_words)) as writer:
        writer.finish(*_read_corpus(corpus, writer.append, workers, progress, column))
    return EncodedCorpus(folder)


def encode_with(
    encoders: Sequence[Encoder],
    corpus: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    shard_words: int = tuning.SHARD_WORDS,
    progress: ScanProgress | None = None,
    column: str | None = None,
    part_bytes: int = tuning.FILE_PART_BYTES,
    section_bytes: int = tuning.SECTION_BYTES,
) -> EncodedCorpus:
    """Do what `encode_corpus` does with encoders, which are closed at the end.

    Parameters
    ----------
    corpus, folder, shard_words, progress, column
        As for `encode_corpus`.
    part_bytes : int, optional
        Size of the parts of a file.
    section_bytes : int, optional
        Largest size of a section of plain text.
    """
    with _new_folder(folder, shard_words) as unfinished, ExitStack() as stack:
        for encoder in encoders:
            stack.callback(encoder.close)
        files, width = _files_of(Path(corpus)), sum(encoder.width for encoder in encoders)
        sections = sections_of(files, width, column, part_bytes, section_bytes)
        if not encode_sections(sections, unfinished, encoders, shard_words, progress):
            raise _without_words(files)
    return EncodedCorpus(folder)


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
    with ExitStack() as stack:
        parts = {name: stack.enter_context(closing(_Part(folder / name))) for name in (TRAINED, HELD_OUT)}

        def keep(sentences: Sentences) -> None:
            nonlocal seen
            drawn = fractions(key, np.arange(seen, seen + sentences.lengths.size))
            seen += sentences.lengths.size
            parts[HELD_OUT].append(sentences.whole(drawn < held_out))
            parts[TRAINED].append(sentences.whole((drawn >= held_out) & (drawn < last)))

        words, _ = _read_corpus(corpus, keep, column=column)
        for name, share in ((HELD_OUT, held_out), (TRAINED, trained)):
            if parts[name].is_empty:
                raise ValueError(
                    f"a share of {share} of the {seen} sentences of corpus {os.fspath(corpus)!r} selects no sentence; "
                    "give a larger share, or more sentences"
                )
            parts[name].finish(words)
    return EncodedCorpus(folder / TRAINED), EncodedCorpus(folder / HELD_OUT)


def _new_folder(folder: str | os.PathLike[str], shard_words: int) -> AbstractContextManager[Path]:
    """Return an empty folder to fill, which gets its name at the end."""
    if shard_words < 1:
        raise ValueError(f"shard_words must be at least 1, got {shard_words!r}")
    return written_folder(Path(os.path.abspath(folder)))


def _read_corpus(
    corpus: str | os.PathLike[str],
    keep: Callable[[Sentences], None],
    workers: int | None = None,
    progress: ScanProgress | None = None,
    column: str | None = None,
) -> tuple[list[str], Int64Array]:
    """Give all sentences of a corpus to `keep`, as word numbers, and return the words and their counts.

    The arguments are those of `encode_corpus`.
    """
    files, vocabulary = _files_of(Path(corpus)), RawVocabulary()
    for path in files:
        parts = file_parts(os.path.abspath(path), workers or usable_cores(), tuning.FILE_PART_BYTES, column)
        count_parts(parts, vocabulary, keep, progress)
    words, counts = vocabulary.words_and_counts()
    if not words:
        raise _without_words(files)
    return as_lines(words), counts


def _without_words(files: Sequence[Path]) -> ValueError:
    return ValueError(f"corpus {', '.join(map(str, files))} holds no words")


def _files_of(corpus: Path) -> list[Path]:
    if not corpus.is_dir():
        return [corpus]
    files = sorted(corpus.iterdir())
    if not files:
        raise ValueError(f"corpus {str(corpus)!r} is an empty folder")
    for file in files:
        if not file.is_file():
            raise ValueError(f"corpus {str(corpus)!r} holds {file.name!r}, which is not a file; only files are read")
    return files


class _Part:
    """Writes some of a corpus's sentences as an encoded corpus of its own, whose words have numbers of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._writer = ShardWriter(folder, tuning.SHARD_WORDS)
        self._vocabulary = RawVocabulary()  # its words are numbers of the whole corpus's words
        self._table = NumberTable(self._vocabulary.numbers)

    @property
    def is_empty(self) -> bool:
        return not len(self._vocabulary)

    def append(self, sentences: Sentences) -> None:
        """Write more sentences, whose words have the whole corpus's numbers."""
        ids = self._table.ids(sentences.ids)
        self._vocabulary.count(ids)
        self._writer.append(Sentences(ids, sentences.lengths))

    def finish(self, words: list[str]) -> None:
        """End the corpus, given the words of the whole one."""
        numbers, counts = self._vocabulary.words_and_counts()
        self._writer.finish((words[number] for number in numbers), counts)

    def close(self) -> None:
        self._writer.close()
