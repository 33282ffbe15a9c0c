"""Corpus files → an encoded corpus: a folder of shards of ids, which workers read directly, and faster than text."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Int64Array
from gensim_tfw2v.corpus.child_program import can_start
from gensim_tfw2v.corpus.encoded_words import as_lines
from gensim_tfw2v.corpus.file_parts import file_parts
from gensim_tfw2v.corpus.file_scan import ScanProgress, count_parts
from gensim_tfw2v.corpus.raw_vocabulary import RawVocabulary
from gensim_tfw2v.corpus.sections.coordination import encode_sections
from gensim_tfw2v.corpus.sections.encoders import Encoder, Encoders, ProcessEncoder
from gensim_tfw2v.corpus.sections.plan import sections_of
from gensim_tfw2v.corpus.sentences import Sentences
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
    """
    if processes is None:
        return _encode_here(corpus, folder, workers, shard_words, progress, column)
    if workers is not None:
        raise ValueError(f"give workers={workers!r} or processes={processes!r}, and not both")
    if processes < 1:
        raise ValueError(f"processes must be at least 1, got {processes!r}")
    if processes == 1 or not can_start():
        return _encode_here(corpus, folder, 1, shard_words, progress, column)
    encoders = [ProcessEncoder() for _ in range(processes)]
    return encode_with(encoders, corpus, folder, shard_words=shard_words, progress=progress, column=column)


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
    with _new_folder(folder, shard_words) as unfinished, Encoders(encoders) as running:
        files = _files_of(Path(corpus))
        sections = sections_of(files, len(running), column, part_bytes, section_bytes)
        if not encode_sections(sections, unfinished, running, shard_words, progress):
            raise _without_words(files)
    return EncodedCorpus(folder)


def _encode_here(
    corpus: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    workers: int | None,
    shard_words: int,
    progress: ScanProgress | None,
    column: str | None,
) -> EncodedCorpus:
    with (
        _new_folder(folder, shard_words) as unfinished,
        contextlib.closing(ShardWriter(unfinished, shard_words)) as writer,
    ):
        words, counts = read_corpus(corpus, writer.append, workers, progress, column)
        writer.finish(zip(words, counts.tolist(), strict=True))
    return EncodedCorpus(folder)


@contextlib.contextmanager
def _new_folder(folder: str | os.PathLike[str], shard_words: int) -> Iterator[Path]:
    """Yield an empty folder to fill, and give it its name at the end."""
    if shard_words < 1:
        raise ValueError(f"shard_words must be at least 1, got {shard_words!r}")
    with written_folder(Path(os.path.abspath(folder))) as unfinished:
        yield unfinished


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
