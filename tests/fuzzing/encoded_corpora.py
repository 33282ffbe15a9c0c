"""Encoded corpora with damaged files, in the present format and the former one."""

from __future__ import annotations

import functools
import logging
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st
from support.former_corpus import write_former

from fuzzing.target import Target, assert_one_line, damaged, edits
from gensim_tfw2v import encode_corpus
from gensim_tfw2v.corpus.shard_file import EncodedCorpusError
from gensim_tfw2v.corpus.shards import EncodedCorpus, Span
from gensim_tfw2v.corpus.sources import EncodedSource

logging.getLogger("gensim_tfw2v.corpus.shards").setLevel(logging.ERROR)  # a warning for each folder otherwise

Files = dict[str, bytes]


@functools.cache
def _files(former: bool) -> Files:
    """Return the files of a corpus of two shards: one of several pages, and one of few words."""
    random = np.random.default_rng(5)
    with tempfile.TemporaryDirectory() as folder:
        text, encoded = Path(folder, "text"), Path(folder, "encoded")
        sentences = [random.integers(0, 50, size) for size in random.integers(1, 9, 600)]
        text.write_text("\n".join(" ".join(f"é{word}" for word in words) for words in sentences), encoding="utf-8")
        assert len(encode_corpus(text, encoded, workers=1, shard_words=2200).shards) == 2
        found = write_former(encoded, Path(folder, "former")) if former else encoded
        return {path.name: path.read_bytes() for path in sorted(found.iterdir())}


def _read(folder: Path) -> tuple[dict[str, int], list[tuple[list[int], list[int]]]]:
    """Return the counts of words, and ids and lengths of each chunk of a corpus."""
    corpus = EncodedCorpus(folder)
    counts = corpus.counts()
    source = EncodedSource(corpus, {word: number for number, word in enumerate(counts)}, words_per_chunk=700)
    assert source.reader is not None
    chunks = []
    for chunk in source.epoch():
        assert isinstance(chunk.content, Span)
        sentences = source.reader.read(chunk.content)
        chunks.append((sentences.ids.tolist(), sentences.lengths.tolist()))
    return counts, chunks


@functools.cache
def _whole(former: bool) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        return _read(_written(Path(folder), _files(former)))


def _written(folder: Path, files: Files) -> Path:
    for name, data in files.items():
        Path(folder, name).write_bytes(data)
    return folder


def _damaged_files(example: tuple[int, list[Any]], former: bool) -> tuple[str, Files]:
    files = _files(former)
    name = list(files)[example[0] % len(files)]
    return name, files | {name: damaged(files[name], example[1])}


def check_encoded(example: tuple[int, list[Any]]) -> None:
    """A file in which any byte has changed is refused in one line with its name."""
    name, files = _damaged_files(example, former=False)
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = _read(_written(Path(folder), files))
        except EncodedCorpusError as error:
            assert files[name] != _files(False)[name]
            assert_one_line(str(error), Path(folder, name))
        else:
            assert files[name] == _files(False)[name], "damage was not seen"
            assert found == _whole(False)


def check_former(example: tuple[int, list[Any]]) -> None:
    """A damaged file of the former format is refused with the folder's name, or has ids and lengths that fit."""
    name, files = _damaged_files(example, former=True)
    with tempfile.TemporaryDirectory() as folder:
        try:
            counts, chunks = _read(_written(Path(folder), files))
        except EncodedCorpusError as error:
            assert files[name] != _files(True)[name]
            assert_one_line(str(error), folder)
        else:
            assert counts == _whole(True)[0]
            for ids, lengths in chunks:
                assert 0 <= min(ids) <= max(ids) < len(counts)
                assert min(lengths) > 0
                assert sum(lengths) == len(ids)


ENCODED = Target(st.tuples(st.integers(0, 3), edits), check_encoded)
FORMER = Target(st.tuples(st.integers(0, 3), edits), check_former)
