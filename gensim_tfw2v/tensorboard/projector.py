"""Writes vectors for TensorBoard's projector: tensors, words with counts and ranks, and a list of both."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.arguments.rules import check_keyed_vectors
from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.sampling import ids_by_count
from gensim_tfw2v.files.whole_files import written_file
from gensim_tfw2v.tensorboard.event_files import make_known
from gensim_tfw2v.tensorboard.options import PROJECTOR_WORDS
from gensim_tfw2v.tensorboard.spelling import visible

CONFIG = "projector_config.pbtxt"
_FOLDER = "projector"
_PLAIN_NAME = re.compile(r"[\w.-]+")


def export_projector(
    keyed_vectors: Any,
    logdir: str | os.PathLike[str],
    *,
    top: int = PROJECTOR_WORDS,
    words: Iterable[str] | None = None,
    name: str = "vectors",
    output_vectors: npt.ArrayLike | None = None,
    heading: str = "word",
) -> Path:
    """Write word vectors to a folder where TensorBoard's projector finds them.

    Vectors of other names in the folder stay there. Words are written so that all are visible and no two look the
    same: tabs, line ends and backslashes as in Python's strings, and the empty word as ``\\(empty)``.

    Parameters
    ----------
    keyed_vectors : gensim.models.KeyedVectors
        The vectors, for instance ``model.wv``.
    logdir : str or os.PathLike
        Folder for TensorBoard to read, made if it is missing.
    top : int
        How many words are written: the most frequent ones, or the first ones if there are no counts.
    words : iterable of str, optional
        The words to write instead, in this order.
    name : str
        The vectors' name in the projector: letters, digits, dots, dashes and underscores.
    output_vectors : array, optional
        The output vectors, for instance ``model.syn1neg``. Their name in the projector is ``NAME-output``.
    heading : str
        What the projector calls the keys of the vectors. For documents, such as ``model.dv``: ``"tag"``.

    Returns
    -------
    pathlib.Path
        The file that lists the vectors in the folder.

    Raises
    ------
    KeyError
        If a word of `words` has no vector.
    ValueError
        If there are no words to write, `name` cannot name a file, or `output_vectors` have the wrong shape.

    Examples
    --------
    >>> from gensim_tfw2v import Word2Vec, export_projector
    >>> model = Word2Vec([["cat", "dog", "cow"]] * 10, min_count=1)
    >>> export_projector(model.wv, "runs/animals", top=2).name
    'projector_config.pbtxt'
    """
    check_keyed_vectors("export_projector", keyed_vectors)
    tables = {name: keyed_vectors.vectors}
    if output_vectors is not None:
        tables[f"{name}-output"] = output_vectors
    return write_tensors(keyed_vectors, tables, logdir, top, words, heading)


def write_tensors(
    vocabulary: Any,
    tables: Mapping[str, npt.ArrayLike],
    logdir: str | os.PathLike[str],
    top: int = PROJECTOR_WORDS,
    words: Iterable[str] | None = None,
    heading: str = "word",
) -> Path:
    """Write tables by name, with one row for each word, and return the file that lists the folder's tensors."""
    arrays = {name: np.asarray(table) for name, table in tables.items()}
    for name, table in arrays.items():
        if not _PLAIN_NAME.fullmatch(name):
            raise ValueError(f"name must be made of letters, digits, dots, dashes and underscores, got {name!r}")
        if table.ndim != 2 or len(table) != len(vocabulary):
            raise ValueError(f"{name} must have {len(vocabulary)} rows, one a word, got shape {table.shape}")
    counts = _counts(vocabulary)
    by_count = np.arange(len(vocabulary)) if counts is None else ids_by_count(counts)
    ids = _chosen_ids(vocabulary, by_count, top, words)
    folder = Path(logdir)
    (folder / _FOLDER).mkdir(parents=True, exist_ok=True)
    metadata = f"{_FOLDER}/{next(iter(arrays))}-metadata.tsv"
    make_known(folder)
    shapes = {name: (len(ids), table.shape[1]) for name, table in arrays.items()}
    with contextlib.ExitStack() as files:  # all files are written, then the last one is moved first
        _list_tensors(folder / CONFIG, files.enter_context(written_file(folder / CONFIG)), shapes, metadata)
        text = _metadata(heading, vocabulary.index_to_key, counts, by_count, ids)
        files.enter_context(written_file(folder / metadata)).write_bytes(text.encode("utf8"))
        for name, table in arrays.items():
            tensor = files.enter_context(written_file(folder / _tensor_path(name)))
            _write_tensor(tensor, np.require(table[ids], np.float32, ["C"]))
    return folder / CONFIG


def _counts(keyed_vectors: Any) -> npt.NDArray[np.int64] | None:
    counts = keyed_vectors.expandos.get("count")
    return None if counts is None else np.asarray(counts[: len(keyed_vectors)], dtype=np.int64)


def _chosen_ids(
    keyed_vectors: Any, by_count: npt.NDArray[np.int64], top: int, words: Iterable[str] | None
) -> npt.NDArray[np.int64]:
    """Return the ids of the words to write, in the order in which they are written."""
    if words is not None:
        wanted = list(words)
        missing = [word for word in wanted if word not in keyed_vectors.key_to_index]
        if missing:
            raise KeyError(f"{len(missing)} of the words have no vector, the first is {missing[0]!r}")
        ids = np.array([keyed_vectors.key_to_index[word] for word in wanted], dtype=np.int64)
    else:
        if top < 1:
            raise ValueError(f"top must be at least 1, got {top!r}")
        ids = by_count[:top]
    if not len(ids):
        raise ValueError("there are no words to write")
    return ids


def _metadata(
    heading: str,
    words: Sequence[str],
    counts: npt.NDArray[np.int64] | None,
    by_count: npt.NDArray[np.int64],
    ids: npt.NDArray[np.int64],
) -> str:
    """Return a table of words with their ranks, from 1, and their counts if there are any."""
    ranks = np.empty(len(by_count), np.int64)
    ranks[by_count] = np.arange(1, len(by_count) + 1)
    if counts is None:
        rows = [f"{visible(words[index])}\t{ranks[index]}\n" for index in ids]
        return "".join([f"{heading}\trank\n", *rows])
    rows = [f"{visible(words[index])}\t{counts[index]}\t{ranks[index]}\n" for index in ids]
    return "".join([f"{heading}\tcount\trank\n", *rows])


def _tensor_path(name: str) -> str:
    return f"{_FOLDER}/{name}.bytes"


def _write_tensor(path: Path, table: Float32Array) -> None:
    """Write a table as bytes, or as text if TensorBoard, which first tries to read text, would take them for text."""
    content = table.tobytes()
    first_line = next((line for line in content.split(b"\n") if line), b"")
    try:
        first_line.decode("utf8")
    except UnicodeDecodeError:
        path.write_bytes(content)
    else:
        rows = ("\t".join(map(repr, row)) for row in table.astype(np.float64).tolist())
        path.write_text("\n".join(rows) + "\n", encoding="utf8")


def _list_tensors(path: Path, new_path: Path, shapes: dict[str, tuple[int, int]], metadata: str) -> None:
    """Write a list of the tensors in the list `path` and new ones. A new one replaces that of the same name."""
    from google.protobuf import text_format
    from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo, ProjectorConfig

    listed = text_format.Parse(path.read_text(encoding="utf8") if path.exists() else "", ProjectorConfig())
    new = [
        EmbeddingInfo(
            tensor_name=name,
            tensor_path=_tensor_path(name),
            tensor_shape=shape,
            metadata_path=metadata,
        )
        for name, shape in shapes.items()
    ]
    kept = [embedding for embedding in listed.embeddings if embedding.tensor_name not in shapes]
    whole = ProjectorConfig(embeddings=[*new, *kept])
    new_path.write_text(text_format.MessageToString(whole), encoding="utf8")
