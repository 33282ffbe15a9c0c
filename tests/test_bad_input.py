"""Wrong arguments, corpora and files: the table in docs/errors.md, row by row."""

from __future__ import annotations

import atexit
import bz2
import gzip
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contract import SENTENCES, assert_equal_models
from error_table import rows_of_tables
from former_corpus import write_former
from gensim.models import Word2Vec

from gensim_tfw2v import TensorBoardLog, TFWord2Vec, encode_corpus, load_vectors_safely
from gensim_tfw2v.checkpoints.folder import CheckpointFolder
from gensim_tfw2v.corpus.shard_file import HEADER_BYTES
from gensim_tfw2v.model.checkpointing import Checkpointer

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
        eval(self._call(), names)

    def _call(self) -> str:
        if self.code.startswith(("model", "load_", "resume_")):
            return self.code
        corpus = "" if re.match("sentences=|corpus_file=", self.code) else "sentences, "
        settings = "" if "min_count" in self.code else ", min_count=1"
        return f"model_class({corpus}{self.code}{settings})"


ROWS = [Row(row.code, row.error, row.fragments, row.gensim) for row in rows_of_tables() if row.gensim is not None]
every_row = pytest.mark.parametrize("row", ROWS, ids=[row.code for row in ROWS])


@pytest.fixture
def files(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make the files that the table names in the working directory, and no variable that names a cluster; return it."""
    monkeypatch.delenv("TF_CONFIG", raising=False)
    (scratch / "corpus.txt").write_text("human user\n" * 20)
    (scratch / "empty.txt").write_text("")
    (scratch / "blank.txt").write_text(" \n\r\n\u3000\n")
    (scratch / "latin1.txt").write_bytes(b"human user\nuser human\nhuman \xe9t\xe9 \n" * 5)
    (scratch / "folder").mkdir()
    make_half_moved_model(scratch)
    make_strange_vectors(scratch)
    make_damaged_corpora(scratch)
    make_checkpoints(scratch)
    for suffix, compress in ((".gz", gzip.compress), (".bz2", bz2.compress)):
        (scratch / f"cut short{suffix}").write_bytes(compress(b"human user\n" * 20)[:-10])
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


def make_damaged_corpora(folder: Path) -> None:
    """Make an encoded corpus and damaged copies of it."""
    whole = folder / "encoded"
    encode_corpus(folder / "corpus.txt", whole)
    for name in ("cut short", "two vocabularies", "no header", "header lost", "a part lost", "a bit flipped"):
        shutil.copytree(whole, folder / name)
    os.truncate(folder / "cut short" / "shard-00000.ids", 100)
    (folder / "two vocabularies" / "vocabulary.txt").write_text("other 40\n")
    (folder / "no header" / "corpus.json").write_text("")
    (folder / "header lost" / "corpus.json").unlink()
    (folder / "a part lost" / "shard-00000.ids").unlink()
    shard = folder / "a bit flipped" / "shard-00000.ids"
    data = bytearray(shard.read_bytes())
    data[HEADER_BYTES] ^= 1  # of an id
    shard.write_bytes(data)
    path = write_former(whole, folder / "a wrong length") / "shard-00000.ids"
    path.write_bytes(path.read_bytes()[:-4] + b"\xff\xff\xff\xff")  # the length of the last sentence


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
