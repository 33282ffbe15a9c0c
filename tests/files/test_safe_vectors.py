"""`load_vectors_safely`: opens what word2vec and NumPy write, runs nothing, takes no memory on a header's word."""

from __future__ import annotations

import bz2
import gzip
import io
import pickle
import random
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec

from gensim_tfw2v import load_vectors_safely

MEMORY = 20 * 2**20  # bytes that refusing a small file may take


@pytest.fixture
def vectors() -> KeyedVectors:
    """Return some vectors whose words are awkward."""
    made = KeyedVectors(4)
    made.add_vectors(["cat", "dög", "1", "0.5", "日本"], np.arange(20, dtype=np.float32).reshape(5, 4) / 8 - 1)
    return made


def write_npz(path: Path, **arrays: Any) -> Path:
    """Write arrays as NumPy does."""
    with path.open("wb") as file:
        np.savez(file, **arrays)
    return path


def assert_equal(found: Any, expected: KeyedVectors) -> None:
    """Fail unless both have the same words and vectors."""
    assert type(found) is KeyedVectors
    assert found.index_to_key == expected.index_to_key
    np.testing.assert_allclose(found.vectors, expected.vectors, rtol=1e-6)
    assert found.vectors.dtype == np.float32
    assert found.most_similar("cat", topn=1) == expected.most_similar("cat", topn=1)


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2"])
@pytest.mark.parametrize("settings", [{"binary": False}, {"binary": True}, {"write_header": False}])
def test_word2vec_formats_open(vectors: KeyedVectors, tmp_path: Path, suffix: str, settings: dict[str, bool]) -> None:
    path = tmp_path / f"vectors{suffix}"
    vectors.save_word2vec_format(str(path), **settings)
    assert_equal(load_vectors_safely(path), vectors)
    assert_equal(load_vectors_safely(str(path)), vectors)


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f8", "<f2"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_opens(vectors: KeyedVectors, tmp_path: Path, dtype: str, order: Any, save: Callable[..., None]) -> None:
    with (tmp_path / "vectors.npz").open("wb") as file:
        save(file, words=np.array(vectors.index_to_key), vectors=np.array(vectors.vectors, dtype, order=order))
    assert_equal(load_vectors_safely(tmp_path / "vectors.npz"), vectors)


class Opened:
    """Leaves a file where it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("code has run"),)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress])
def test_pickles_are_refused_and_not_run(scratch: Path, protocol: int, compress: Callable[[bytes], bytes]) -> None:
    suffix = {gzip.compress: ".gz", bz2.compress: ".bz2"}.get(compress, "")
    path = scratch / f"vectors{suffix}"
    path.write_bytes(compress(pickle.dumps(Opened(), protocol)))
    with pytest.raises(ValueError, match="vectors"):
        load_vectors_safely(path)
    assert not (scratch / "code has run").exists()


@pytest.mark.parametrize("is_model", [True, False])
def test_the_error_of_gensims_pickles_says_what_to_ask_for(
    vectors: KeyedVectors, tmp_path: Path, is_model: bool
) -> None:
    saved = Word2Vec([["cat"]], min_count=1, vector_size=2) if is_model else vectors
    saved.save(str(tmp_path / "saved"))
    with pytest.raises(ValueError, match=r"saved' are a pickle, which can run any code.*ask for word2vec"):
        load_vectors_safely(tmp_path / "saved")


@pytest.mark.parametrize("named", ["words", "vectors"])
def test_objects_in_npz_are_refused_and_not_run(vectors: KeyedVectors, scratch: Path, named: str) -> None:
    arrays = {"words": np.array(vectors.index_to_key), "vectors": vectors.vectors}
    arrays[named] = np.array([Opened()] * len(vectors), object)
    with pytest.raises(ValueError, match=rf"vectors.npz' have {named} of type object"):
        load_vectors_safely(write_npz(scratch / "vectors.npz", **arrays))
    assert not (scratch / "code has run").exists()


def npy_header(shape: tuple[int, ...], dtype: str) -> bytes:
    """Return the header of an array, and nothing of the array."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue()


def npz_that_lies(path: Path, words: tuple[int, ...], vectors: tuple[int, ...]) -> None:
    """Write an archive of two headers."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("words.npy", npy_header(words, "<U9"))
        archive.writestr("vectors.npy", npy_header(vectors, "<f4"))


LIES: dict[str, Callable[[Path], object]] = {
    "text": lambda path: path.write_bytes(b"999999999 300\ncat" + b" 0.5" * 300 + b"\n"),
    "text of one line": lambda path: path.write_bytes(b"999999999 300"),
    "binary": lambda path: path.write_bytes(b"999999999 300\ncat " + bytes([1, 200, 3, 4]) * 300),
    "no numbers": lambda path: path.write_bytes(b"999999999 0\n" + bytes([200]) * 99),
    "many numbers": lambda path: path.write_bytes(b"1 999999999999\ncat " + bytes([1, 200, 3, 4]) * 300),
    "no header": lambda path: path.write_bytes(b"cat" + b" 1" * 10_000 + b"\n" + b"a 1\n" * 100_000),
    "npz": lambda path: npz_that_lies(path, (999_999_999,), (999_999_999, 300)),
    "npz of many numbers": lambda path: npz_that_lies(path, (1,), (1, 2**62)),
    "npz of overflowing size": lambda path: npz_that_lies(path, (2**32,), (2**32, 2**32)),
}


@pytest.mark.parametrize("name", LIES)
def test_a_header_that_lies_is_named_and_takes_no_memory(tmp_path: Path, name: str) -> None:
    path = tmp_path / "vectors"
    LIES[name](path)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"vectors' are damaged: .* bytes"):
            load_vectors_safely(path)
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()


def text_of_zeros(path: Path) -> None:
    """Write 60 MB of text that a compressor makes small."""
    with (bz2.open if path.suffix == ".bz2" else gzip.open)(path, "wb") as file:
        file.write(b"300000 100\n")
        for _ in range(300):
            file.write((b"a" + b" 0" * 100 + b"\n") * 1000)


@pytest.mark.parametrize("suffix", [".gz", pytest.param(".bz2", marks=pytest.mark.slow)])
def test_text_that_expands_without_end_is_refused(tmp_path: Path, suffix: str) -> None:
    text_of_zeros(tmp_path / f"vectors{suffix}")
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="expand to more than 100 times"):
            load_vectors_safely(tmp_path / f"vectors{suffix}")
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()


def test_an_archive_that_expands_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npz"
    np.savez_compressed(path, words=np.arange(100_000).astype("U"), vectors=np.zeros((100_000, 300), np.float32))
    with pytest.raises(ValueError, match="expand to more than 100 times"):
        load_vectors_safely(path)


@pytest.mark.parametrize(
    ("arrays", "reason"),
    [
        ({"words": np.array(["a"])}, "'vectors' missing"),
        ({"vectors": np.ones((1, 2))}, "'words' missing"),
        ({"words": np.array(["a"]), "vectors": np.ones((2, 2))}, "one row for each word"),
        ({"words": np.array(["a", "b"]), "vectors": np.ones(2)}, "one row for each word"),
        ({"words": np.array(["a"]), "vectors": np.ones((1, 0))}, "one row for each word"),
        ({"words": np.array([1]), "vectors": np.ones((1, 2))}, "words of type int64"),
        ({"words": np.array([], "U1"), "vectors": np.ones((0, 2))}, "hold no words"),
    ],
)
def test_an_archive_of_other_arrays_is_refused(tmp_path: Path, arrays: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=rf"vectors.npz.*{reason}"):
        load_vectors_safely(write_npz(tmp_path / "vectors.npz", **arrays))


@pytest.mark.parametrize("content", [b"", b"\n", b"some prose of several words\n", b"\xff\xfe\x00", b"PK\x03\x04"])
def test_a_file_that_holds_no_vectors_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "odd").write_bytes(content)
    with pytest.raises(ValueError, match="odd"):
        load_vectors_safely(tmp_path / "odd")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        load_vectors_safely(tmp_path / "missing")


def test_a_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not in a file"):
        load_vectors_safely(tmp_path)


@pytest.mark.parametrize("name", ["text", "binary", "npz", "text.gz", "compressed.npz"])
def test_a_damaged_file_opens_or_is_an_error_that_names_it(vectors: KeyedVectors, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if "npz" in name:
        save = np.savez_compressed if "compressed" in name else np.savez
        with path.open("wb") as file:
            save(file, words=np.array(vectors.index_to_key), vectors=vectors.vectors)
    else:
        vectors.save_word2vec_format(str(path), binary=name == "binary")
    whole, draw = path.read_bytes(), random.Random(name)
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(draw.choice([1, 1, 4])):
            damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged[: draw.choice([len(damaged), draw.randrange(len(damaged))])])
        try:
            load_vectors_safely(path)
        except ValueError as error:
            assert str(path) in str(error)
            assert "\n" not in str(error)
