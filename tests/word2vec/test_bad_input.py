"""Wrong arguments, corpora and files: the table in tests/data/errors.md, row by row."""

from __future__ import annotations

import atexit
import bz2
import gzip
import hashlib
import io
import json
import lzma
import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import Word2Vec
from support.contract import SENTENCES, assert_equal_models
from support.error_table import rows_of_tables
from support.former_corpus import FORMER_HEADER_BYTES, write_former

from gensim_tfw2v import TensorBoardLog, TFWord2Vec, encode_corpus, load_vectors_safely
from gensim_tfw2v.checkpoints.folder import CheckpointFolder
from gensim_tfw2v.corpus.shard_file import HEADER_BYTES
from gensim_tfw2v.model.checkpointing import Checkpointer

SHARD = "shard-00000.ids"
MAIN_TEMPORARY = tempfile.gettempdir()  # `scratch` sets another one for each test
RESUMED: dict[str, Any] = {"vector_size": 8, "min_count": 1, "workers": 1, "epochs": 3, "batch_words": 100}
BEHAVIOURS_OF_GENSIM = {"same", "silent", "hangs", "none"}


@dataclass(frozen=True)
class Row:
    """One row of the tables that say what gensim does."""

    code: str
    error: type[Exception]
    fragments: tuple[str, ...]
    gensim: str

    def run(self, model_class: type[Any], model: Any) -> None:
        """Run the row's code on a class, and on a model of it whose vocabulary has been built."""
        names = {"model_class": model_class, "model": model, "sentences": SENTENCES, "nan": float("nan")}
        names |= {"resume_in": partial(resume_in, model_class), "other": SENTENCES[::-1]}
        names |= {"TensorBoardLog": TensorBoardLog, "load_vectors_safely": load_vectors_safely}
        names |= {"encode_corpus": encode_corpus}
        eval(self._call(), names)

    def _call(self) -> str:
        if self.code.startswith(("model", "load_", "encode_", "resume_")):
            return self.code
        corpus = "" if re.match("sentences=|corpus_file=", self.code) else "sentences, "
        settings = "" if "min_count" in self.code else ", min_count=1"
        return f"model_class({corpus}{self.code}{settings})"


ROWS = [Row(row.code, row.error, row.fragments, row.gensim) for row in rows_of_tables() if row.gensim is not None]
every_row = pytest.mark.parametrize("row", ROWS, ids=[row.code for row in ROWS])


@pytest.fixture(scope="module")
def made_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the files that the table names in a folder; return it."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "corpus.txt").write_text("human user\n" * 20)
    (folder / "empty.txt").write_text("")
    (folder / "blank.txt").write_text(" \n\r\n\u3000\n")
    (folder / "latin1.txt").write_bytes(b"human user\nuser human\nhuman \xe9t\xe9 \n" * 5)
    (folder / "folder").mkdir()
    (folder / "nested" / "inner").mkdir(parents=True)
    make_half_moved_model(folder)
    make_strange_vectors(folder)
    make_damaged_corpora(folder)
    make_checkpoints(folder)
    for suffix, compress in ((".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)):
        (folder / f"cut short{suffix}").write_bytes(compress(b"human user\n" * 20)[:-10])
    return folder


@pytest.fixture
def files(made_files: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Copy these files to the working directory, and have no variable that names a cluster; return the directory."""
    monkeypatch.delenv("TF_CONFIG", raising=False)
    shutil.copytree(made_files, scratch, dirs_exist_ok=True)
    with CheckpointFolder("in use").held():
        yield scratch


def make_half_moved_model(folder: Path) -> None:
    """Leave what a save leaves that was killed after it moved one array."""
    new = folder / ".tfw2v-killed" / "new"
    new.mkdir(parents=True)
    built_model(Word2Vec).save(str(new / "half moved"), sep_limit=0)
    (new / "half moved.syn1neg.npy").rename(folder / "half moved.syn1neg.npy")


def make_strange_vectors(folder: Path) -> None:
    """Write vectors as nobody should send them."""
    built_model(Word2Vec).wv.save(str(folder / "pickle.txt"))
    (folder / "large.bin").write_bytes(b"999999999 300\nuser " + bytes([1, 200, 3, 4]) * 300)
    (folder / "large.txt").write_text("999999999 300\nuser" + " 0.5" * 300)
    np.savez(folder / "objects.npz", words=np.array(["user"], object), vectors=np.ones((1, 2)))
    np.savez(folder / "unnamed.npz", np.ones((1, 2)))
    np.savez_compressed(folder / "zeros.npz", words=np.array(["user"]), vectors=np.zeros((1, 2**20), np.float32))
    np.savez(folder / "no words.npz", words=np.array([], "U1"), vectors=np.ones((0, 2)))
    np.savez(folder / "two rows.npz", words=np.array(["user"]), vectors=np.ones((2, 2)))
    whole = (folder / "two rows.npz").read_bytes()
    (folder / "cut short.npz").write_bytes(whole[:-10])
    with zipfile.ZipFile(folder / "large.npz", "w") as archive:
        archive.writestr("words.npy", zipfile.ZipFile(folder / "two rows.npz").read("words.npy"))
        archive.writestr("vectors.npy", npy_header((999_999_999, 300)))


def npy_header(shape: tuple[int, ...]) -> bytes:
    """Return the header of an array of numbers, and nothing of the array."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
    return file.getvalue()


def make_damaged_corpora(folder: Path) -> None:
    """Make an encoded corpus and damaged copies of it, in the present format and the former one."""
    whole = folder / "encoded"
    encode_corpus(folder / "corpus.txt", whole)
    damage_in_files(whole)
    other = folder / "other.txt"
    other.write_text("human user user\n" * 20)
    encode_corpus(other, folder / "of another text")
    os.replace(folder / "of another text" / SHARD, copied(whole, "a shard of another text") / SHARD)
    (folder / "two texts").mkdir()
    for name in ("first.txt", "second.txt"):
        shutil.copy(other, folder / "two texts" / name)
    encode_corpus(folder / "two texts", folder / "shards exchanged", shard_words=1)
    shards = [folder / "shards exchanged" / f"shard-0000{number}.ids" for number in (0, 1)]
    first, second = (shard.read_bytes() for shard in shards)
    shards[0].write_bytes(second)
    shards[1].write_bytes(first)
    damage_in_former_files(whole)


def copied(encoded: Path, name: str) -> Path:
    """Return a copy of a folder, beside it."""
    return Path(shutil.copytree(encoded, encoded.with_name(name)))


def damage_in_files(whole: Path) -> None:
    """Make copies of an encoded corpus in which one file is damaged or missing."""
    os.truncate(copied(whole, "cut short") / SHARD, 100)
    (copied(whole, "two vocabularies") / "vocabulary.txt").write_text("other 40\n")
    (copied(whole, "no header") / "corpus.json").write_text("")
    (copied(whole, "another format") / "corpus.json").write_text('{"format": "other 9"}')
    (copied(whole, "header lost") / "corpus.json").unlink()
    (copied(whole, "a part lost") / SHARD).unlink()
    header = copied(whole, "a number in the header changed") / "corpus.json"
    header.write_text(header.read_text().replace('"words": 40', '"words": 41'))
    places = {"a mark changed": 0, "a header changed": 20, "a bit flipped": HEADER_BYTES}  # the last of an id
    for name, place in places.items():
        shard = copied(whole, name) / SHARD
        data = bytearray(shard.read_bytes())
        data[place] ^= 1
        shard.write_bytes(data)


def damage_in_former_files(whole: Path) -> None:
    """Make copies of an encoded corpus in the former format, whose damage no checksum shows."""
    lengths = {"a wrong length": b"\xff\xff\xff\xff", "another length": b"\1\0\0\0"}  # of the last sentence
    for name, length in lengths.items():
        shard = write_former(whole, whole.with_name(name)) / SHARD
        shard.write_bytes(shard.read_bytes()[:-4] + length)
    shard = write_former(whole, whole.with_name("an id of no word")) / SHARD
    data = bytearray(shard.read_bytes())
    data[FORMER_HEADER_BYTES] = 99
    shard.write_bytes(data)
    for name, text in {"other counts": b"human 30\nuser 30\n", "no counts": b"human\nuser\n"}.items():
        former, fingerprint = write_former(whole, whole.with_name(name)), hashlib.sha256(text)
        (former / "vocabulary.txt").write_bytes(text)
        header = json.loads((former / "corpus.json").read_text())
        (former / "corpus.json").write_text(json.dumps(header | {"fingerprint": fingerprint.hexdigest()}))
        data = (former / SHARD).read_bytes()
        (former / SHARD).write_bytes(data[:16] + fingerprint.digest() + data[48:])


@cache
def unfinished_checkpoints() -> Path:
    """Return a folder with two checkpoints of a training that was interrupted twice in its first epoch."""
    folder = Path(tempfile.mkdtemp(dir=MAIN_TEMPORARY))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    after_chunk = Checkpointer.after_chunk
    chunks = iter(range(100))

    def interrupt(checkpointer: Checkpointer, *rest: Any) -> None:
        after_chunk(checkpointer, *rest)
        if next(chunks) in (2, 4):
            raise InterruptedError

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(Checkpointer, "after_chunk", interrupt)
        with pytest.raises(InterruptedError):
            TFWord2Vec(SENTENCES, checkpoint_dir=folder / "unfinished", **RESUMED)
        with pytest.raises(InterruptedError):
            TFWord2Vec.resume(folder / "unfinished", SENTENCES)
    return folder / "unfinished"


def make_checkpoints(folder: Path) -> None:
    """Make folders of checkpoints: of an unfinished training, and with damage to the newest one."""
    for name in ("unfinished", "damaged", "in use"):
        shutil.copytree(unfinished_checkpoints(), folder / name)
    (folder / "damaged" / "checkpoint-000002" / "inputs.array").write_bytes(b"")


def resume_in(model_class: type[Any], folder: str, **changes: Any) -> None:
    """Resume the training in a folder with a model of its own, some arguments of which are others."""
    model = model_class(checkpoint_dir=folder, **RESUMED | changes)
    model.build_vocab(SENTENCES)
    model.train(SENTENCES, total_examples=150, epochs=3, resume=True)


def built_model(model_class: type[Any]) -> Any:
    """Return an untrained model with the vocabulary of SENTENCES."""
    model = model_class(vector_size=8, min_count=1, workers=1)
    model.build_vocab(SENTENCES)
    return model


def test_the_table_says_only_what_is_known_of_gensim() -> None:
    assert len(ROWS) > 50
    assert {row.gensim for row in ROWS} <= BEHAVIOURS_OF_GENSIM


@every_row
def test_wrong_input_gets_the_error_of_the_table(tfword2vec_class: type[Any], files: Path, row: Row) -> None:
    with pytest.raises(row.error) as caught:
        row.run(tfword2vec_class, built_model(tfword2vec_class))
    message = str(caught.value)
    assert [fragment for fragment in row.fragments if fragment not in message] == [], message
    assert "tensorflow" not in message.lower()


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if row.gensim == "same"],
    ids=[row.code for row in ROWS if row.gensim == "same"],
)
def test_gensim_raises_the_same_type_where_the_table_says_so(files: Path, row: Row) -> None:
    with pytest.raises(row.error):
        row.run(Word2Vec, built_model(Word2Vec))


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if row.code.startswith("model.")],
    ids=[row.code for row in ROWS if row.code.startswith("model.")],
)
def test_a_model_is_unharmed_by_a_refused_call(tfword2vec_class: type[Any], files: Path, row: Row) -> None:
    model, untouched = built_model(tfword2vec_class), built_model(tfword2vec_class)
    with pytest.raises(row.error):
        row.run(tfword2vec_class, model)
    assert_equal_models(model, untouched)
    for name in ("alpha", "min_alpha", "epochs"):
        assert getattr(model, name) == getattr(untouched, name)
    assert model.train(SENTENCES, total_examples=150, epochs=1)[1] == 600
    assert np.isfinite(model.wv.vectors).all()


@pytest.mark.parametrize(
    ("arguments", "attribute"),
    [
        ({"vector_size": np.int32(8)}, "vector_size"),
        ({"window": 3.0}, "window"),
        ({"alpha": "0.05"}, "alpha"),
        ({"negative": np.int64(3)}, "negative"),
        ({"sample": 0}, "sample"),
        ({"min_count": 0}, "min_count"),
        ({"alpha": np.float32(0.05)}, "alpha"),
        ({"ns_exponent": "0.75"}, "ns_exponent"),
    ],
    ids=str,
)
def test_values_that_gensim_converts_are_accepted(
    word2vec_class: type[Any], arguments: dict[str, Any], attribute: str
) -> None:
    model = word2vec_class(SENTENCES, workers=1, **{"min_count": 1} | arguments)
    assert float(getattr(model, attribute)) == pytest.approx(float(arguments[attribute]))
    plain = (float if attribute in ("alpha", "ns_exponent") else int)(arguments[attribute])
    expected = word2vec_class(SENTENCES, workers=1, **{"min_count": 1} | {attribute: plain})
    np.testing.assert_allclose(model.wv.vectors, expected.wv.vectors, atol=1e-6)


def test_a_setting_spoilt_after_construction_is_found_before_training(tfword2vec_class: type[Any]) -> None:
    model, untouched = built_model(tfword2vec_class), built_model(tfword2vec_class)
    model.window = 0
    with pytest.raises(ValueError, match=r"window.*0"):
        model.train(SENTENCES, total_examples=150, epochs=1)
    assert_equal_models(model, untouched)


def test_output_tables_that_do_not_fit_the_vocabulary_are_named(tfword2vec_class: type[Any]) -> None:
    model = built_model(tfword2vec_class)
    model.syn1neg = model.syn1neg[:5]
    with pytest.raises(RuntimeError, match="syn1neg"):
        model.train(SENTENCES, total_examples=150, epochs=1)


@pytest.mark.parametrize("shape", [(), (0,), (11, 1)], ids=str)
def test_lock_factors_of_a_wrong_shape_are_named_before_training(
    tfword2vec_class: type[Any], shape: tuple[int, ...]
) -> None:
    model, untouched = built_model(tfword2vec_class), built_model(tfword2vec_class)
    model.wv.vectors_lockf = np.ones(shape, np.float32)
    with pytest.raises(RuntimeError, match=rf"vectors_lockf .* got shape {re.escape(str(shape))}"):
        model.train(SENTENCES, total_examples=150, epochs=1)
    assert_equal_models(model, untouched)
