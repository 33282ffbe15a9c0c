"""Vectors of words → a folder that fills a database: PostgreSQL with pgvector, or a collection of Qdrant.

For PostgreSQL, psql loads rows in COPY's binary format. A row is the number of a word, the word, and its vector as
pgvector receives it: how many numbers there are, 0, and the numbers as float32. All is big-endian. Qdrant gets points
in batches of JSON.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import struct
from pathlib import Path
from typing import Any, BinaryIO

from gensim_tfw2v.files.vectors import pieces
from gensim_tfw2v.files.whole_files import written_folder
from gensim_tfw2v.files.word_texts import as_texts

QDRANT_BATCH = 1000  # points of a request
_HEADER = b"PGCOPY\n\xff\r\n\x00" + struct.pack(">ii", 0, 0)
_END = struct.pack(">h", -1)
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
MOST_INDEXED = 2000  # numbers of a vector that pgvector's indexes take
_LOAD_PGVECTOR = """-- Run in this folder: psql --dbname DATABASE --file load.sql
\\set ON_ERROR_STOP on
BEGIN;
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE {table} (id integer PRIMARY KEY, word text NOT NULL UNIQUE, vector vector({numbers}) NOT NULL);
\\copy {table} (id, word, vector) FROM 'words.copy' WITH (FORMAT binary)
{index}COMMIT;
-- SELECT word FROM {table} ORDER BY vector <=> (SELECT vector FROM {table} WHERE word = 'cat') LIMIT 10;
"""
_LOAD_QDRANT = """#!/bin/sh
# Run in this folder: sh load.sh [ADDRESS] [COLLECTION]
set -eu
address=${1:-http://127.0.0.1:6333} collection=${2:-words}
put() {
  curl --fail --silent --show-error --request PUT --header 'Content-Type: application/json' --data-binary "@$1" \\
    "$address/collections/$collection$2" > /dev/null
}
put collection.json ""
for batch in points-*.json; do
  put "$batch" "/points?wait=true"
done
"""


def export_pgvector(keyed_vectors: Any, folder: str | os.PathLike[str], *, table: str = "words") -> None:
    """Write vectors as a new folder with ``load.sql`` and ``words.copy``, which appears when it is complete.

    Parameters
    ----------
    keyed_vectors : gensim.models.KeyedVectors
        The vectors, such as ``model.wv``.
    folder : str or os.PathLike
        The folder to write. It must not exist yet.
    table : str, optional
        The table that ``load.sql`` makes.

    Raises
    ------
    ValueError
        If the name of the table is none, if a word has a zero byte, which PostgreSQL's texts cannot have, or if two
        words have the same text.
    FileExistsError
        If there is such a folder.
    """
    check_table(table)
    words = as_texts(keyed_vectors.index_to_key)
    for word in words:
        if "\x00" in word:
            raise ValueError(f"the word {word!r} has a zero byte, which PostgreSQL's texts cannot have")
    numbers = int(keyed_vectors.vector_size)
    index = f"CREATE INDEX ON {table} USING hnsw (vector vector_cosine_ops);\n" if numbers <= MOST_INDEXED else ""
    with written_folder(Path(os.path.abspath(folder))) as unfinished:
        with (unfinished / "words.copy").open("wb") as file:
            _write_rows(file, words, keyed_vectors.vectors)
        load = _LOAD_PGVECTOR.format(table=table, numbers=numbers, index=index)
        (unfinished / "load.sql").write_text(load, encoding="utf-8")


def check_table(table: str) -> None:
    """Raise ValueError if this cannot be the name of a table."""
    if not _NAME.fullmatch(table):
        raise ValueError(f"table must be of a to z, 0 to 9 and _, at most 63 of them, no digit first, got {table!r}")


def _write_rows(file: BinaryIO, words: list[str], matrix: Any) -> None:
    numbers = matrix.shape[1]
    head = struct.pack(">ihh", 4 + 4 * numbers, numbers, 0)
    file.write(_HEADER)
    for first, rows in pieces(matrix):
        for number, row in enumerate(rows.astype(">f4"), start=first):
            word = words[number].encode("utf-8")
            file.write(struct.pack(">hiii", 3, 4, number, len(word)) + word + head + row.tobytes())
    file.write(_END)


def export_qdrant(keyed_vectors: Any, folder: str | os.PathLike[str]) -> None:
    """Write vectors as a new folder with requests and ``load.sh``, which sends them. It appears when it is complete.

    A point has the number of a word, its vector and the payload ``{"word": ...}``.

    Parameters
    ----------
    keyed_vectors : gensim.models.KeyedVectors
        The vectors, such as ``model.wv``.
    folder : str or os.PathLike
        The folder to write. It must not exist yet.

    Raises
    ------
    FileExistsError
        If there is such a folder.
    """
    words = list(keyed_vectors.index_to_key)
    collection = {"vectors": {"size": int(keyed_vectors.vector_size), "distance": "Cosine"}}
    with written_folder(Path(os.path.abspath(folder))) as unfinished:
        (unfinished / "collection.json").write_text(json.dumps(collection), encoding="utf-8")
        (unfinished / "load.sh").write_text(_LOAD_QDRANT, encoding="utf-8")
        points = (
            _point(number, words[number], row)
            for first, rows in pieces(keyed_vectors.vectors)
            for number, row in enumerate(rows.tolist(), start=first)
        )
        for batch, some in enumerate(iter(lambda: list(itertools.islice(points, QDRANT_BATCH)), [])):
            text = f'{{"points":[{",".join(some)}]}}'
            (unfinished / f"points-{batch:06d}.json").write_text(text, encoding="utf-8")


def _point(number: int, word: Any, row: list[float]) -> str:
    numbers = ",".join(f"{value:.9g}" for value in row)  # nine digits name every float32
    return f'{{"id":{number},"vector":[{numbers}],"payload":{json.dumps({"word": word}, ensure_ascii=False)}}}'
