"""Corpus files → an encoded corpus: a folder of shards of ids, which workers read directly, and faster than text."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from gensim_tfw2v import tuning
from gensim_tfw2v.corpus.file_parts import file_parts
from gensim_tfw2v.corpus.file_scan import RawVocabulary, ScanProgress, count_parts
from gensim_tfw2v.corpus.shard_writer import ShardWriter
from gensim_tfw2v.corpus.shards import EncodedCorpus
from gensim_tfw2v.files.whole_files import written_folder
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
    files, target = _files_of(Path(corpus)), Path(os.path.abspath(folder))
    if shard_words < 1:
        raise ValueError(f"shard_words must be at least 1, got {shard_words!r}")
    with written_folder(target) as unfinished:
        _encode(files, unfinished, workers or usable_cores(), shard_words, progress, column)
    return EncodedCorpus(target)


def _encode(
    files: list[Path],
    folder: Path,
    workers: int,
    shard_words: int,
    progress: ScanProgress | None,
    column: str | None,
) -> None:
    vocabulary = RawVocabulary()
    with contextlib.closing(ShardWriter(folder, shard_words)) as writer:
        for path in files:
            parts = file_parts(os.path.abspath(path), workers, tuning.FILE_PART_BYTES, column)
            count_parts(parts, vocabulary, writer.append, progress)
        words, counts = vocabulary.words_and_counts()
        if not words:
            raise ValueError(f"corpus {', '.join(map(str, files))} holds no words")
        writer.finish(zip(_as_lines(words), counts.tolist(), strict=True))


def _as_lines(words: list[Any]) -> list[str]:
    """Return words as texts that the vocabulary can have; raise ValueError naming a word of a table that it cannot."""
    texts = [str(word) for word in words]
    for text in texts:
        if text.split() != [text]:
            raise ValueError(
                f"the column holds the word {text!r}, and words of an encoded corpus have no white space and are not "
                "empty; train from the table itself, or replace these words"
            )
    if len(set(texts)) < len(texts):
        raise ValueError("some tables hold whole numbers and others the same numbers as text; encode them apart")
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
