"""Model files and vector files that are damaged, or whose header lies, and what nobody vouches for."""

from __future__ import annotations

import functools
import gzip
import io
import struct
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from gensim.models import Word2Vec
from hypothesis import strategies as st

from fuzzing.forked_reader import outcome
from fuzzing.target import Target, assert_one_line, damaged, edits

_SENTENCES = [["human", "interface", "é", "computer"], ["human", "system", "中文"]] * 3
_WORDS, _SIZE = 6, 4
_KINDS = ("model", "model in parts", "keyed vectors", "keyed vectors in parts")
_VECTORS = ("text", "binary", "text without header")
_ARCHIVES = {"npz": zipfile.ZIP_STORED, "compressed npz": zipfile.ZIP_DEFLATED}
_SAFE = (*_VECTORS, *_ARCHIVES, "keyed vectors")


@functools.cache
def _saved(kind: str) -> dict[str, bytes]:
    """Return the files of a small model in a format by their names; the first is the one to open."""
    model = Word2Vec(_SENTENCES, vector_size=_SIZE, min_count=1, epochs=1, seed=1, workers=1, hs=1, negative=2)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "saved")
        in_parts = {"separately": ["vectors"]} if "in parts" in kind else {}
        if kind.startswith("model"):
            model.save(str(path), **({"separately": ["syn1", "syn1neg"]} if in_parts else {}))
        elif kind.startswith("keyed"):
            model.wv.save(str(path), **in_parts)
        else:
            model.wv.save_word2vec_format(str(path), binary=kind == "binary", write_header="without" not in kind)
        return {file.name: file.read_bytes() for file in sorted(Path(folder).iterdir())}


def _check(files: dict[str, bytes], is_whole: bool, opened: str = "saved", reader: str = "model") -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            Path(folder, name).write_bytes(data)
        path = Path(folder, opened)
        kind, message = outcome(path, reader)
    if is_whole:
        assert (kind, message) == ("read", str(_WORDS))
    assert kind in ("read", "refused"), f"{kind}: {message}"
    if kind == "refused":
        assert_one_line(message, path)


def check_model(example: tuple[str, int, list[Any]]) -> None:
    """A damaged model file is read, or refused in one line with its name. The process never ends by a signal."""
    kind, number, changes = example
    files = _saved(kind)
    name = list(files)[number % len(files)]
    changed = files | {name: damaged(files[name], changes)}
    _check(changed, is_whole=changed == files)


def check_vectors(example: tuple[str, bytes | None, list[Any]]) -> None:
    """A vector file that is damaged, or begins with another header, is read or refused in one line with its name."""
    kind, header, changes = example
    whole = _saved(kind)["saved"]
    data = damaged(_with_header(whole, header), changes)
    _check({"saved": data}, is_whole=data == whole)


def check_safe_vectors(example: tuple[str, bool, bytes | None, list[Any], list[Any]]) -> None:
    """A file opened safely is read or refused in one line with its name. Its code never runs, and memory is limited."""
    kind, is_compressed, header, inside, outside = example
    if kind in _ARCHIVES:
        name, whole, data = "saved.npz", *(_archive(kind, *changes) for changes in ((None, []), (header, inside)))
    else:
        whole = _saved(kind)["saved"]
        name, data = "saved", damaged(_with_header(whole, header), inside)
    if is_compressed:
        name, whole, data = f"{name}.gz", gzip.compress(whole, mtime=0), gzip.compress(data, mtime=0)
    data = damaged(data, outside)
    can_be_read = kind != "keyed vectors" and not (is_compressed and kind in _ARCHIVES)
    _check({name: data}, is_whole=can_be_read and data == whole, opened=name, reader="safe")


def _with_header(data: bytes, header: bytes | None) -> bytes:
    """Return a file of vectors with another first line."""
    return data if header is None else header + b"\n" + data.partition(b"\n")[2]


def _archive(kind: str, shape: bytes | None, changes: list[Any]) -> bytes:
    """Return an archive of arrays. The header of the vectors has this shape, and their file is damaged so."""
    words, vectors = io.BytesIO(), io.BytesIO()
    np.save(words, np.array([f"é{word}" for word in range(_WORDS)]))
    np.save(vectors, np.ones((_WORDS, _SIZE), np.float32))
    data = vectors.getvalue()
    if shape is not None:
        (size,) = struct.unpack_from("<H", data, 8)
        header = data[10 : 10 + size].replace(f"({_WORDS}, {_SIZE})".encode(), b"(%s)" % b", ".join(shape.split()))
        data = data[:8] + struct.pack("<H", len(header)) + header + data[10 + size :]
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", _ARCHIVES[kind]) as members:
        for name, member in (("words.npy", words.getvalue()), ("vectors.npy", damaged(data, changes))):
            members.writestr(zipfile.ZipInfo(name), member, _ARCHIVES[kind])
    return archive.getvalue()


_sizes = st.one_of(st.integers(-2, 12), st.sampled_from([2**16, 2**31 - 1, 2**31, 2**40, 2**63, 10**30]))
_headers = st.one_of(
    st.none(),
    st.tuples(_sizes, _sizes).map(lambda sizes: f"{sizes[0]} {sizes[1]}".encode()),
    st.lists(_sizes, max_size=4).map(lambda sizes: " ".join(map(str, sizes)).encode()),
    st.binary(max_size=20),
)
_edits = st.one_of(st.just([]), edits)
MODELS = Target(st.tuples(st.sampled_from(_KINDS), st.integers(0, 5), edits), check_model)
VECTORS = Target(st.tuples(st.sampled_from(_VECTORS), _headers, _edits), check_vectors)
SAFE_VECTORS = Target(
    st.tuples(st.sampled_from(_SAFE), st.booleans(), _headers, _edits, _edits),
    check_safe_vectors,
)
