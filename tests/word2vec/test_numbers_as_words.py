"""Whole numbers as words: the vectors of the same corpus as text, found by number, saved and opened again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec
from support.command_line import run as run_cli

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.tensorboard.options import TensorBoardLog

SETTINGS: dict[str, Any] = {"vector_size": 8, "min_count": 2, "workers": 1, "seed": 1, "epochs": 2, "sample": 0}
WALKS = np.random.default_rng(0).integers(0, 30, (200, 12)) * 3 + 5
WALKS[0, 0] = 1000  # once, so that it is left out
TEXT = [list(map(str, walk)) for walk in WALKS.tolist()]


@pytest.mark.parametrize("kind", ["lists", "arrays", "matrix"])
@pytest.mark.parametrize("cache_memory", [0, 2**28])
def test_numbers_have_the_vectors_of_the_same_words_as_text(kind: str, cache_memory: int) -> None:
    corpus: Any = {"lists": WALKS.tolist(), "arrays": list(WALKS.astype(np.int32)), "matrix": WALKS}[kind]
    model, expected = TFWord2Vec(corpus, **SETTINGS, cache_memory=cache_memory), TFWord2Vec(TEXT, **SETTINGS)
    assert list(map(str, model.wv.index_to_key)) == expected.wv.index_to_key
    assert {type(word) for word in model.wv.index_to_key} == {int}
    np.testing.assert_array_equal(model.wv.vectors, expected.wv.vectors)
    for number in (5, 8, 92):
        np.testing.assert_array_equal(model.wv[number], expected.wv[str(number)])
        assert model.wv.get_vecattr(number, "count") == expected.wv.get_vecattr(str(number), "count")
    named = [(int(word), similarity) for word, similarity in expected.wv.most_similar("8")]
    assert model.wv.most_similar(8) == model.wv.most_similar(positive=[8]) == named


def test_arrays_of_text_have_the_vectors_of_lists() -> None:
    model, expected = TFWord2Vec(np.array(TEXT), **SETTINGS), TFWord2Vec(TEXT, **SETTINGS)
    assert {type(word) for word in model.wv.index_to_key} == {str}
    assert model.wv.index_to_key == expected.wv.index_to_key
    np.testing.assert_array_equal(model.wv.vectors, expected.wv.vectors)


def test_gensim_finds_the_same_numbers_in_its_own_model() -> None:
    ours, gensims = TFWord2Vec(WALKS, **SETTINGS), Word2Vec(WALKS.tolist(), **SETTINGS)
    assert ours.wv.index_to_key == gensims.wv.index_to_key
    assert ours.wv.key_to_index == gensims.wv.key_to_index


def test_gensims_files_keep_the_numbers(tmp_path: Path) -> None:
    model = TFWord2Vec(WALKS, **SETTINGS)
    model.save(str(tmp_path / "model"))
    model.wv.save(str(tmp_path / "vectors.kv"))
    for vectors in (Word2Vec.load(str(tmp_path / "model")).wv, KeyedVectors.load(str(tmp_path / "vectors.kv"))):
        assert vectors.index_to_key == model.wv.index_to_key
        np.testing.assert_array_equal(vectors[8], model.wv[8])
    opened = TFWord2Vec.load(str(tmp_path / "model"))
    opened.train(WALKS, total_examples=len(WALKS), epochs=1)
    assert (opened.wv[8] != model.wv[8]).any()


@pytest.mark.parametrize("binary", [False, True])
def test_files_of_word2vecs_format_have_the_numbers_as_text(binary: bool, tmp_path: Path) -> None:
    corpus = WALKS - 5  # number 0 is a word
    model = TFWord2Vec(corpus, **SETTINGS)
    model.export_vectors(tmp_path / "exported", file_format="binary" if binary else "text")
    model.wv.save_word2vec_format(str(tmp_path / "saved"), binary=binary)
    for name in ("exported", "saved"):
        vectors = KeyedVectors.load_word2vec_format(str(tmp_path / name), binary=binary)
        assert vectors.index_to_key == list(map(str, model.wv.index_to_key))
        np.testing.assert_array_equal(vectors["3"], model.wv[3])


def test_our_files_are_whole_where_the_most_frequent_word_is_number_zero(tmp_path: Path) -> None:
    """gensim's own `save_word2vec_format` then writes that vector twice, and its reader leaves out the last one."""
    corpus = [[0, 0, 1], [0, 2, 1], [0, 2, 1]] * 5
    model = TFWord2Vec(corpus, **SETTINGS)
    assert model.wv.index_to_key[0] == 0
    model.export_vectors(tmp_path / "vectors.txt")
    vectors = KeyedVectors.load_word2vec_format(str(tmp_path / "vectors.txt"))
    assert vectors.index_to_key == ["0", "1", "2"]
    for number in range(3):
        np.testing.assert_array_equal(vectors[str(number)], model.wv[number])


def test_a_vocabulary_of_numbers_grows_by_new_ones_alone() -> None:
    """gensim would take 1 for the word at position 1."""
    model = TFWord2Vec([[10, 11, 10, 11, 12, 12]] * 3, **SETTINGS)
    before = {number: model.wv.get_vecattr(number, "count") for number in (10, 11, 12)}
    model.build_vocab([np.array([1, 0, 10])] * 4, update=True)
    assert model.wv.index_to_key[3:] == [1, 0]
    assert model.wv.vectors.shape == model.syn1neg.shape == (5, 8)
    assert [model.wv.get_vecattr(number, "count") for number in (1, 0)] == [4, 4]
    assert model.wv.get_vecattr(10, "count") == before[10] + 4
    assert model.wv.get_vecattr(11, "count") == before[11]


def test_a_training_with_numbers_is_resumed(tmp_path: Path) -> None:
    whole = TFWord2Vec(WALKS, **SETTINGS, checkpoint_dir=tmp_path, checkpoint_every="100 words")
    resumed = TFWord2Vec.resume(tmp_path, WALKS)
    assert resumed.wv.index_to_key == whole.wv.index_to_key
    np.testing.assert_array_equal(resumed.wv[8], whole.wv[8])


def test_a_log_has_the_numbers(tmp_path: Path) -> None:
    log = TensorBoardLog(tmp_path, every_seconds=0, probes=[8])  # type: ignore[list-item]
    TFWord2Vec(WALKS, **SETTINGS, logdir=log)
    tables = [path.read_text(encoding="utf8") for path in tmp_path.rglob("*.tsv")]
    assert any("\n8\t" in table for table in tables)


def test_the_command_line_finds_the_neighbours_of_a_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = TFWord2Vec(WALKS, **SETTINGS)
    model.wv.save(str(tmp_path / "walks.kv"))
    assert run_cli("neighbours", tmp_path / "walks.kv", "8", "--topn", "1") == 0
    word, similarity = capsys.readouterr().out.split()[1:]
    ((expected, of_expected),) = model.wv.most_similar(8, topn=1)
    assert (int(word), similarity) == (expected, f"{of_expected:.3f}")
    assert run_cli("neighbours", tmp_path / "walks.kv", "7") == 1
    assert "word '7' is not in model" in capsys.readouterr().err
