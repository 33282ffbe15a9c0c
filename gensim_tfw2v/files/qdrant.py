"""Vectors of words → a folder of requests that fill a collection of Qdrant: points in batches of JSON."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from gensim_tfw2v.files.vectors import pieces
from gensim_tfw2v.files.whole_files import written_folder

BATCH = 1000  # points of a request
_LOAD = """#!/bin/sh
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
        (unfinished / "load.sh").write_text(_LOAD, encoding="utf-8")
        points = (
            _point(number, words[number], row)
            for first, rows in pieces(keyed_vectors.vectors)
            for number, row in enumerate(rows.tolist(), start=first)
        )
        _write_batches(unfinished, points)


def _point(number: int, word: Any, row: Iterable[float]) -> str:
    numbers = ",".join(f"{value:.9g}" for value in row)  # nine digits name every float32
    return f'{{"id":{number},"vector":[{numbers}],"payload":{json.dumps({"word": word}, ensure_ascii=False)}}}'


def _write_batches(folder: Path, points: Iterator[str]) -> None:
    """Write points to files that are sent one after the other."""
    for batch, some in enumerate(iter(lambda: list(itertools.islice(points, BATCH)), [])):
        text = f'{{"points":[{",".join(some)}]}}'
        (folder / f"points-{batch:06d}.json").write_text(text, encoding="utf-8")
