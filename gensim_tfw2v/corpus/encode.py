"""Corpus files → an encoded corpus: a folder of shards of ids, which workers read directly, and faster than text."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Int64Array
from gensim_tfw2v.corpus.file_parts import file_parts
from gensim_tfw2v.corpus.file_scan import RawVocabulary, ScanProgress, count_parts
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shard_writer import ShardWriter
from gensim_tfw2v.corpus.shards import EncodedCorpus
from gensim_tfw2v.files.whole_files import written_folder
from gensim_tfw2v.files.word_texts import as_texts, check_undivided
from gensim_tfw2v.runtime.tensorflow import usable_cores


def encode_corpus(
    corpus: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    workers: int | None = None,
    shard_words: int = tuning.SHARD_WORDS,
    progress: ScanProgress | None = None,
    column: str | None = None,
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
        Called after each part of a file with the words, distinct words and sentences so far.
    column : str, optional
        The column of tables that has the sentences, if more than one could. Whole numbers become text.
    """
    target = Path(os.path.abspath(folder))
    if shard_words < 1:
        raise ValueError(f"shard_words must be at least 1, got {shard_words!r}")
    with (
        written_folder(target) as unfinished,
        contextlib.closing(ShardWriter(unfinished, shard_words)) as writer,
    ):
        words, counts = read_corpus(corpus, writer.append, workers, progress, column)
        writer.finish(zip(words, counts.tolist(), strict=True))
    return EncodedCorpus(target)


def read_corpus(
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
        raise ValueError(f"corpus {', '.join(map(str, files))} holds no words")
    return _as_lines(words), counts


def _as_lines(words: list[Any]) -> list[str]:
    """Return words as texts that the vocabulary can have; raise ValueError naming a word of a table that it cannot."""
    texts = as_texts(words, "some tables hold whole numbers and others the same numbers as text; encode them apart")
    check_undivided(
        texts,
        "the column holds the word {!r}, and words of an encoded corpus have no white space and are not empty; train "
        "from the table itself, or replace these words",
    )
    return texts


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
