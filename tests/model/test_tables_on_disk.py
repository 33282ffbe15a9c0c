"""`tables_dir`: the same vectors, whose matrices are in files."""

from __future__ import annotations

import copy
import errno
import os
import pickle
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec
from support.example_blocks import SETTINGS, maker_from
from support.resumed_training import SENTENCES, killed, train, untrained
from support.small_disks import DISK_BYTES, mounted

from gensim_tfw2v import TFWord2Vec, tuning
from gensim_tfw2v.files.mapped_rows import rows_in_files, whole_rows
from gensim_tfw2v.model.table_sync import TableSync
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.local.placement import LocalPlacement
from gensim_tfw2v.placement.row_states import STATE_SUFFIX, with_states
from gensim_tfw2v.steps.kernel import plain_kernel
from gensim_tfw2v.steps.settings import ADAGRAD

MODES: dict[str, dict[str, Any]] = {
    "skip-gram": {"sg": 1},
    "cbow": {"sg": 0},
    "skip-gram with the tree": {"sg": 1, "hs": 1, "negative": 0},
    "cbow with both": {"sg": 0, "hs": 1, "negative": 5},
}
NEW = [
    ["new", *(f"words{chr(97 + place % 26)}{chr(97 + place // 26 % 26)}" for place in range(at, at + 9))]
    for at in range(500)
]  # vectors of them are large, and take little time
WIDE = 20_000


def corpus(words: int = 300, sentences: int = 2000, seed: int = 1) -> list[list[str]]:
    draws = np.random.default_rng(seed).zipf(1.3, (sentences, 10)) % words
    return [
        [f"word{'abcdefghij'[number % 10]}{chr(97 + number // 10 % 26)}{chr(97 + number // 260)}" for number in row]
        for row in draws.tolist()
    ]


def trained(folder: Path | None, **settings: Any) -> TFWord2Vec:
    chosen = {"vector_size": 20, "min_count": 1, "workers": 1, "epochs": 2, "seed": 7, **settings}
    return TFWord2Vec(corpus(), tables_dir=folder, **chosen)


def matrices(model: Word2Vec) -> dict[str, np.ndarray]:
    outputs = {name: getattr(model, name) for name in ("syn1neg", "syn1") if hasattr(model, name)}
    return {"wv.vectors": model.wv.vectors, **outputs}


def assert_same(first: Word2Vec, second: Word2Vec) -> None:
    of_first, of_second = matrices(first), matrices(second)
    assert of_first.keys() == of_second.keys()
    for name, matrix in of_first.items():
        np.testing.assert_array_equal(matrix, of_second[name], err_msg=name)


def assert_on_disk(model: Word2Vec) -> None:
    assert all(whole_rows(matrix) is not None for matrix in matrices(model).values())


@pytest.mark.parametrize("optimizer", [pytest.param("sgd", marks=pytest.mark.slow), "adagrad", None])
@pytest.mark.parametrize("mode", MODES)
def test_vectors_are_those_of_a_training_in_memory(tmp_path: Path, mode: str, optimizer: str | None) -> None:
    settings = {**MODES[mode], "optimizer": optimizer}
    on_disk = trained(tmp_path, **settings)
    assert_on_disk(on_disk)
    assert_same(on_disk, trained(None, **settings))


@pytest.mark.parametrize("settings", [{"workers": 3}, {"workers": 2, "reproducible": True}])
def test_several_workers_train_in_the_files(tmp_path: Path, settings: dict[str, Any]) -> None:
    model = trained(tmp_path, sg=1, **settings)
    assert_on_disk(model)
    assert np.abs(model.syn1neg).max() > 0
    if "reproducible" in settings:
        assert_same(model, trained(None, sg=1, **settings))


def test_training_changes_the_files_and_nothing_else(tmp_path: Path) -> None:
    rows = rows_in_files(str(tmp_path), {"inputs": (9, 5)})["inputs"]
    tables = ModelTables(rows[:, :4], None, None, np.ones(1, np.float32), {"inputs": rows[:, 4]}, {"inputs": rows})
    placement = with_states(LocalPlacement(replace(SETTINGS, optimizer=ADAGRAD), maker_from(0)))
    placement.load(tables)
    rows[3] = [1, 2, 3, 4, 5]  # what is written to the file is in the placement at once
    np.testing.assert_array_equal(placement.rows("inputs", 3, 4), [[1, 2, 3, 4]])
    np.testing.assert_array_equal(placement.rows("inputs" + STATE_SUFFIX, 3, 4), [[5]])
    assert tables.empty().inputs is tables.inputs


def test_the_folder_stays_empty_and_several_models_share_it(tmp_path: Path) -> None:
    first, second = trained(tmp_path), trained(tmp_path, seed=8)
    assert list(tmp_path.iterdir()) == []
    assert_same(first, trained(None))
    assert_same(second, trained(None, seed=8))


def test_the_optimizer_may_change_between_trainings(tmp_path: Path) -> None:
    found = []
    for folder in (tmp_path, None):
        model = trained(folder, optimizer="sgd")
        for optimizer in ("adagrad", "sgd", "adagrad"):
            model.optimizer = optimizer
            model.train(corpus(), total_examples=model.corpus_count, epochs=1)
        found.append(model)
    assert_on_disk(found[0])
    assert_same(*found)
    for name, states in found[1].optimizer_states.items():
        np.testing.assert_array_equal(found[0].optimizer_states[name], states)


def test_a_high_rate_of_train_changes_the_choice_of_the_optimizer(tmp_path: Path) -> None:
    found = []
    for folder in (tmp_path, None):
        model = TFWord2Vec(vector_size=20, min_count=1, workers=1, tables_dir=folder)
        model.build_vocab(corpus())
        model.train(corpus(), total_examples=model.corpus_count, epochs=1, start_alpha=0.5)
        found.append(model)
    assert found[0].optimizer == "sgd"
    assert_on_disk(found[0])
    assert_same(*found)


def test_rows_in_files_begin_with_the_same_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "LEAST_WORDS_FOR_SGD", 100)
    found = [trained(folder, optimizer="adagrad", epochs=3) for folder in (tmp_path, None)]
    assert_same(*found)
    for name, states in found[1].optimizer_states.items():
        np.testing.assert_array_equal(found[0].optimizer_states[name], states)
        assert (states >= 800).all()


def test_rows_in_files_begin_with_the_states_for_the_epochs_of_train(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "LEAST_WORDS_FOR_SGD", 100)
    found = []
    for folder in (tmp_path, None):
        model = TFWord2Vec(vector_size=20, min_count=1, workers=1, seed=7, optimizer="adagrad", tables_dir=folder)
        model.build_vocab(corpus())
        model.train(corpus(), total_examples=model.corpus_count, epochs=3)
        model.build_vocab(NEW[:3], update=True)
        model.train(NEW[:3], total_examples=3, epochs=7)
        found.append(model)
    for name, states in found[1].optimizer_states.items():
        np.testing.assert_array_equal(found[0].optimizer_states[name], states)
    assert_same(*found)


def test_states_that_a_user_drops_begin_anew(tmp_path: Path) -> None:
    found = []
    for folder in (tmp_path, None):
        model = trained(folder, optimizer="adagrad")
        model.optimizer_states = {}
        model.train(corpus(), total_examples=model.corpus_count, epochs=1)
        found.append(model)
    assert_same(*found)


@pytest.mark.parametrize("mode", ["skip-gram", "cbow with both"])
def test_a_vocabulary_grows_in_the_files(tmp_path: Path, mode: str) -> None:
    found = []
    for folder in (tmp_path, None):
        model = trained(folder, optimizer="adagrad", **MODES[mode])
        more = [["brand", "new", "words", *sentence] for sentence in corpus(seed=2)]
        model.build_vocab(more, update=True)
        model.train(more, total_examples=len(more), epochs=2)
        found.append(model)
    assert_on_disk(found[0])
    assert "brand" in found[0].wv
    assert_same(*found)


def test_a_model_in_memory_moves_to_files_when_it_is_trained_on(tmp_path: Path) -> None:
    found = []
    for folder in (tmp_path, None):
        model = trained(None)
        model.tables_dir = folder
        model.train(corpus(), total_examples=model.corpus_count, epochs=1)
        found.append(model)
    assert_on_disk(found[0])
    assert_same(*found)


@pytest.mark.parametrize("optimizer", ["sgd", "adagrad"])
def test_a_saved_model_is_gensims_own(tmp_path: Path, optimizer: str) -> None:
    model = trained(tmp_path, optimizer=optimizer, hs=1)
    model.save(str(tmp_path / "whole"), sep_limit=0)
    model.wv.save(str(tmp_path / "vectors"), sep_limit=0)
    assert_on_disk(model)
    loaded = Word2Vec.load(str(tmp_path / "whole"))
    assert type(loaded.wv) is KeyedVectors
    assert_same(loaded, model)
    np.testing.assert_array_equal(KeyedVectors.load(str(tmp_path / "vectors"), mmap="r").vectors, model.wv.vectors)
    ours = TFWord2Vec.load(str(tmp_path / "whole"))
    assert ours.tables_dir is None
    for continued in (ours, model):
        continued.train(corpus(), total_examples=model.corpus_count, epochs=1)
    assert_same(ours, model)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_is_a_model_in_memory(tmp_path: Path, copied: Any) -> None:
    model = trained(tmp_path)
    other = copied(model)
    assert type(other.wv) is KeyedVectors
    assert all(whole_rows(matrix) is None for matrix in matrices(other).values())
    assert_same(other, model)
    other.wv.vectors[:] = 0
    assert model.wv.vectors.any()


def test_queries_answer_as_in_memory(tmp_path: Path) -> None:
    on_disk, in_memory = trained(tmp_path), trained(None)
    word = in_memory.wv.index_to_key[3]
    some: dict[str, Any] = {"negative": [in_memory.wv.index_to_key[5]], "topn": 3, "restrict_vocab": 50}
    assert on_disk.wv.most_similar(word) == in_memory.wv.most_similar(word)
    assert on_disk.wv.most_similar(word, **some) == in_memory.wv.most_similar(word, **some)
    assert on_disk.wv.most_similar_cosmul(word) == in_memory.wv.most_similar_cosmul(word)
    np.testing.assert_array_equal(on_disk.wv.most_similar(word, topn=None), in_memory.wv.most_similar(word, topn=None))
    np.testing.assert_array_equal(on_disk.wv.norms, in_memory.wv.norms)
    for found, expected in zip(on_disk.predict_output_word([word]), in_memory.predict_output_word([word]), strict=True):
        assert found == (expected[0], pytest.approx(expected[1], rel=1e-5))
    with pytest.warns(DeprecationWarning):
        on_disk.init_sims(replace=True)
        in_memory.init_sims(replace=True)
    np.testing.assert_array_equal(on_disk.wv.vectors, in_memory.wv.vectors)


USES: dict[str, Callable[[TFWord2Vec, Path], Any]] = {
    "save": lambda model, folder: model.save(str(folder / "model"), sep_limit=0),
    "save vectors": lambda model, folder: model.wv.save(str(folder / "vectors"), sep_limit=0),
    "export": lambda model, folder: model.export_vectors(folder / "vectors.kv"),
    "most similar": lambda model, folder: model.wv.most_similar("new"),
    "most similar by products": lambda model, folder: model.wv.most_similar_cosmul("new"),
    "new words": lambda model, folder: model.build_vocab([["more", "words"]], update=True),
    "new model": lambda model, folder: TFWord2Vec(NEW, vector_size=WIDE, min_count=1, tables_dir=folder, epochs=1),
    "train": lambda model, folder: model.train(NEW, total_examples=len(NEW), epochs=1),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_no_matrix_is_copied_into_memory(tmp_path: Path, use: Any) -> None:
    model = TFWord2Vec(NEW, vector_size=WIDE, min_count=1, tables_dir=tmp_path, epochs=1, optimizer="adagrad")
    tracemalloc.start()  # it counts arrays, and no mapped files
    try:
        use(model, tmp_path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < model.wv.vectors.nbytes / 2
    assert_on_disk(model)


def test_a_full_disk_is_an_error_before_anything_is_lost(tmp_path: Path) -> None:
    model = trained(tmp_path, epochs=1)
    before = copy.deepcopy(model)
    with mounted(tmp_path / "small") as place:
        model.tables_dir = place
        needed = 2 * 4 * 21 * len(model.wv)
        (place / "fill").write_bytes(bytes(DISK_BYTES - needed // 2))
        with pytest.raises(OSError, match=rf"tables_dir '{place}' has [\d,]+ bytes free, .* take [\d,]+") as error:
            TFWord2Vec(corpus(), vector_size=20, min_count=1, tables_dir=place)
        assert error.value.errno == errno.ENOSPC
        with pytest.raises(OSError, match="tables_dir"):
            model.build_vocab([["brand"], ["new"]] * 5, update=True)
        assert os.listdir(place) == ["fill"]
    assert_same(model, before)


def test_training_by_other_steps_is_refused(tmp_path: Path) -> None:
    placement = LocalPlacement(SETTINGS, maker_from(0), steps=plain_kernel())
    with pytest.raises(ValueError, match=r"tables_dir=.* needs the compiled operations"):
        TableSync(trained(tmp_path, optimizer="sgd"), placement).push()


@pytest.mark.parametrize(
    "stage, sentence",
    [
        pytest.param("checkpoint", 11000, id="between checkpoints", marks=pytest.mark.slow),
        pytest.param("write", 11000, id="in a checkpoint"),
    ],
)
def test_a_killed_training_resumes_with_the_same_vectors(tmp_path: Path, stage: str, sentence: int) -> None:
    checkpoints, tables = tmp_path / "checkpoints", tmp_path / "tables"
    tables.mkdir()
    killed("skipgram-negative", checkpoints, sentence, stage, tables_dir=str(tables))
    assert list(tables.iterdir()) == []
    resumed = TFWord2Vec.resume(checkpoints, SENTENCES, tables_dir=tables)
    assert_on_disk(resumed)
    assert_same(resumed, train(untrained("skipgram-negative")))


def test_a_finished_training_is_read_into_files(tmp_path: Path) -> None:
    checkpoints, tables = tmp_path / "checkpoints", tmp_path / "tables"
    tables.mkdir()
    model = train(untrained("skipgram-negative", checkpoint_dir=checkpoints, tables_dir=tables))
    found = TFWord2Vec.resume(checkpoints, SENTENCES, tables_dir=tables)
    assert_on_disk(found)
    assert_same(found, model)
