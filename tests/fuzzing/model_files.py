"""Model files and vector files that are damaged, or whose header lies."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

from gensim.models import Word2Vec
from hypothesis import strategies as st

from fuzzing.forked_reader import outcome
from fuzzing.target import Target, assert_one_line, damaged, edits

_SENTENCES = [["human", "interface", "é", "computer"], ["human", "system", "中文"]] * 3
_WORDS = 6
_KINDS = ("model", "model in parts", "keyed vectors", "keyed vectors in parts")
_VECTORS = ("text", "binary", "text without header")


@functools.cache
def _saved(kind: str) -> dict[str, bytes]:
    """Return the files of a small model in a format by their names; the first is the one to open."""
    model = Word2Vec(_SENTENCES, vector_size=4, min_count=1, epochs=1, seed=1, workers=1, hs=1, negative=2)
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


def _check(files: dict[str, bytes], is_whole: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            Path(folder, name).write_bytes(data)
        path = Path(folder, "saved")
        kind, message = outcome(path)
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
    data = whole if header is None else header + b"\n" + whole.partition(b"\n")[2]
    data = damaged(data, changes)
    _check({"saved": data}, is_whole=data == whole)


_sizes = st.one_of(st.integers(-2, 12), st.sampled_from([2**16, 2**31 - 1, 2**31, 2**40, 2**63, 10**30]))
_headers = st.one_of(
    st.none(),
    st.tuples(_sizes, _sizes).map(lambda sizes: f"{sizes[0]} {sizes[1]}".encode()),
    st.lists(_sizes, max_size=4).map(lambda sizes: " ".join(map(str, sizes)).encode()),
    st.binary(max_size=20),
)
MODELS = Target(st.tuples(st.sampled_from(_KINDS), st.integers(0, 5), edits), check_model)
VECTORS = Target(
    st.tuples(st.sampled_from(_VECTORS), _headers, st.one_of(st.just([]), edits)),
    check_vectors,
)
