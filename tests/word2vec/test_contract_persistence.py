"""Saving, loading, pickling and copying; and going to and from plain gensim."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import Doc2Vec, FastText, KeyedVectors, Word2Vec
from support.contract import (
    MODES,
    PURE_MODES,
    SENTENCE_WORDS,
    SENTENCES,
    assert_equal_models,
    assert_finite,
    learnt_arrays,
)

ARGUMENTS: dict[str, Any] = {"vector_size": 8, "min_count": 1, "workers": 1, "sample": 0, "epochs": 2}

# Opens a model where neither this package nor TensorFlow can be imported, and trains it on.
PLAIN_GENSIM = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("gensim_tfw2v", "tensorflow"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
sys.modules["gensim_tfw2v"] = None

import numpy as np
from gensim.models import Word2Vec

model = Word2Vec.load("model")
assert type(model) is Word2Vec, type(model)
names = [name for name in ("syn1", "syn1neg") if hasattr(model, name)]
np.savez("loaded.npz", vectors=model.wv.vectors, **{name: getattr(model, name) for name in names})
before = model.wv.vectors.copy()
counts = model.train([["human", "graph", "trees"]] * 50, total_examples=50, epochs=2)
assert counts == (300, 300), counts
assert not np.array_equal(before, model.wv.vectors)
model.save("trained on")
"""


@pytest.fixture
def model(word2vec_class: type[Any]) -> Any:
    """Return a small trained model."""
    return word2vec_class(SENTENCES, **ARGUMENTS)


def train_on(model: Any) -> None:
    """Train a model for two more epochs; fail unless all words were trained and all tables are finite."""
    trained = model.train(SENTENCES, total_examples=len(SENTENCES), epochs=2)
    assert trained == (2 * SENTENCE_WORDS, 2 * SENTENCE_WORDS)
    assert_finite(model)


def test_a_saved_model_loads_equal_and_trains_on(
    word2vec_class: type[Any], scratch: Path, mode: dict[str, int]
) -> None:
    model = word2vec_class(SENTENCES, **ARGUMENTS, **mode)
    model.save("model")
    loaded = word2vec_class.load("model")
    assert type(loaded) is word2vec_class
    assert_equal_models(loaded, model)
    train_on(loaded)


def test_settings_and_counters_survive_saving(word2vec_class: type[Any], model: Any, scratch: Path) -> None:
    names = [
        "alpha",
        "window",
        "negative",
        "sample",
        "epochs",
        "train_count",
        "corpus_count",
        "total_train_time",
    ]
    model.save("model")
    loaded = word2vec_class.load("model")
    assert {name: getattr(loaded, name) for name in names} == {name: getattr(model, name) for name in names}


@pytest.mark.parametrize("mmap", [None, "r"])
def test_arrays_saved_apart_load_mapped_or_not(
    word2vec_class: type[Any], model: Any, scratch: Path, mmap: str | None
) -> None:
    model.save("model", sep_limit=0)
    assert (scratch / "model.wv.vectors.npy").exists()
    assert_equal_models(word2vec_class.load("model", mmap=mmap), model)


def test_a_model_mapped_for_reading_trains_on(tfword2vec_class: type[Any], scratch: Path) -> None:
    """gensim crashes here: its threads write into the read-only arrays."""
    model = tfword2vec_class(SENTENCES, **ARGUMENTS)
    model.save("model", sep_limit=0)
    loaded = tfword2vec_class.load("model", mmap="r")
    train_on(loaded)
    assert_equal_models(tfword2vec_class.load("model"), model)


def test_saving_and_loading_are_recorded_as_events(word2vec_class: type[Any], model: Any, scratch: Path) -> None:
    model.save("model")
    assert model.lifecycle_events[-1]["event"] == "saving"
    assert word2vec_class.load("model").lifecycle_events[-1]["event"] == "loaded"


def test_saving_leaves_the_model_ready_to_train(model: Any, scratch: Path) -> None:
    model.save("model", sep_limit=0)
    train_on(model)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_is_equal_and_independent(word2vec_class: type[Any], model: Any, duplicate: Any) -> None:
    other = duplicate(model)
    assert type(other) is word2vec_class
    assert_equal_models(other, model)
    before = model.wv.vectors.copy()
    train_on(other)
    np.testing.assert_array_equal(model.wv.vectors, before)


def test_a_pickle_holds_no_tensorflow(model: Any) -> None:
    assert b"tensorflow" not in pickle.dumps(model).lower()


def test_load_is_refused_on_an_instance(word2vec_class: type[Any], model: Any, scratch: Path) -> None:
    model.save("model")
    with pytest.raises(AttributeError):
        word2vec_class().load("model")


def test_loading_vectors_as_a_model_is_refused(word2vec_class: type[Any], model: Any, scratch: Path) -> None:
    model.wv.save("vectors")
    with pytest.raises(AttributeError, match="can't be loaded"):
        word2vec_class.load("vectors")


def test_vectors_go_through_the_word2vec_formats(model: Any, scratch: Path) -> None:
    for binary in (False, True):
        model.wv.save_word2vec_format("vectors", binary=binary)
        vectors = KeyedVectors.load_word2vec_format("vectors", binary=binary)
        np.testing.assert_allclose(vectors.vectors, model.wv.vectors, rtol=1e-5)


def test_a_model_saved_by_gensim_loads_as_ours_and_trains_on(
    tfword2vec_class: type[Any], scratch: Path, mode: dict[str, int]
) -> None:
    model = Word2Vec(SENTENCES, **ARGUMENTS, **mode)
    model.save("model")
    loaded = tfword2vec_class.load("model")
    assert type(loaded) is tfword2vec_class
    assert_equal_models(loaded, model)
    train_on(loaded)


class Extended(Word2Vec):
    """Somebody's own model."""


def test_a_model_saved_by_a_subclass_of_gensims_loads_and_trains_on(word2vec_class: type[Any], scratch: Path) -> None:
    model = Extended(SENTENCES, **ARGUMENTS)
    model.save("model")
    loaded = word2vec_class.load("model")
    assert_equal_models(loaded, model)
    train_on(loaded)


@pytest.mark.parametrize("other_class", [Doc2Vec, FastText])
def test_a_subclass_that_has_more_than_vectors_of_words_is_refused(
    tfword2vec_class: type[Any], scratch: Path, other_class: type[Any]
) -> None:
    other_class(vector_size=4).save("model")
    with pytest.raises(AttributeError, match=f"{other_class.__name__}.* can't be loaded"):
        tfword2vec_class.load("model")


@pytest.mark.parametrize(
    "name", [*(pytest.param(name, marks=pytest.mark.slow) for name in PURE_MODES), "skipgram-both"]
)
def test_a_model_saved_by_ours_opens_in_gensim_without_this_package(
    tfword2vec_class: type[Any], scratch: Path, name: str
) -> None:
    model = tfword2vec_class(SENTENCES, **ARGUMENTS, **MODES[name])
    model.save("model")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [sys.executable, "-c", PLAIN_GENSIM]
    result = subprocess.run(command, cwd=scratch, env=environment, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    with np.load("loaded.npz") as loaded:
        assert set(loaded) == set(learnt_arrays(model))
        for array_name, array in learnt_arrays(model).items():
            np.testing.assert_array_equal(loaded[array_name], array, err_msg=array_name)
    train_on(tfword2vec_class.load("trained on"))


def test_to_gensim_gives_a_plain_gensim_model(tfword2vec_class: type[Any], mode: dict[str, int]) -> None:
    model = tfword2vec_class(SENTENCES, **ARGUMENTS, **mode)
    plain = model.to_gensim()
    assert type(plain) is Word2Vec
    assert_equal_models(plain, model)
    train_on(plain)


def test_a_subclass_trains_saves_and_loads_as_itself(word2vec_class: type[Any], scratch: Path) -> None:
    named: Any = type("Named", (word2vec_class,), {"__module__": __name__})
    globals()["Named"] = named
    model = named(SENTENCES, **ARGUMENTS)
    model.save("model")
    loaded = named.load("model")
    assert type(loaded) is named
    train_on(loaded)


def test_the_folder_of_checkpoints_is_not_saved_nor_copied(tfword2vec_class: type[Any], scratch: Path) -> None:
    arguments = {"checkpoint_dir": scratch / "checkpoints", "checkpoint_every": "1000 words", "keep_checkpoints": 7}
    model = tfword2vec_class(SENTENCES, **ARGUMENTS, **arguments)
    model.save("model")
    for other in (tfword2vec_class.load("model"), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert (other.checkpoint_dir, other.checkpoint_every, other.keep_checkpoints) == (None, "1000 words", 7)
        before = sorted((scratch / "checkpoints").iterdir())
        train_on(other)
        assert sorted((scratch / "checkpoints").iterdir()) == before
    assert model.checkpoint_dir == scratch / "checkpoints"


def test_a_model_of_an_earlier_version_loads_with_the_defaults(tfword2vec_class: type[Any], scratch: Path) -> None:
    model = tfword2vec_class(SENTENCES, **ARGUMENTS)
    defaults = {
        **{"checkpoint_dir": None, "checkpoint_every": 600.0, "keep_checkpoints": 3},
        **{"recovery_timeout": 300.0, "max_recoveries": 10},
    }
    for name in defaults:
        del model.__dict__[name]
    model.save("model")
    loaded = tfword2vec_class.load("model")
    assert {name: getattr(loaded, name) for name in defaults} == defaults
    train_on(loaded)


@pytest.mark.parametrize(
    ("name", "warns"), [("m.txt", True), ("m.kv", True), ("m.safetensors", True), ("m.model", False)]
)
def test_a_save_under_another_formats_suffix_warns_and_can_be_opened(
    name: str, warns: bool, tfword2vec_class: type[Any], scratch: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model = tfword2vec_class(SENTENCES, **ARGUMENTS)
    model.save(name)
    assert (f"save() writes {name} in gensim's own format" in caplog.text) == warns
    assert_equal_models(model, Word2Vec.load(name))
