"""`merge_vectors()` and `tfw2v merge`: keyed vectors and files of several models become one of all their words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec
from support.command_line import error_of, run
from support.plain_merging import cosines

from gensim_tfw2v import merge_vectors
from gensim_tfw2v.merging import METHODS

SIZE = 4


def keyed_vectors(words: str, counts: list[int] | None = None, seed: int = 1, size: int = SIZE) -> KeyedVectors:
    """Return random vectors of these words, with counts if there are any."""
    vectors = KeyedVectors(size)
    vectors.add_vectors(words.split(), np.random.default_rng(seed).standard_normal((len(words.split()), size)))
    for word, count in zip(words.split(), counts or [], strict=False):
        vectors.set_vecattr(word, "count", count)
    return vectors


def rotated(vectors: KeyedVectors, seed: int = 5) -> KeyedVectors:
    """Return the same words with rotated and longer vectors."""
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((SIZE, SIZE)))[0]
    copied = KeyedVectors(SIZE)
    copied.add_vectors(vectors.index_to_key, (2 * vectors.vectors @ turn).astype(np.float32))
    copied.expandos["count"] = vectors.expandos["count"].copy()
    return copied


WORDS = "the of cat dog mat log sat met on a"


def test_counts_are_summed_and_words_sorted_by_them() -> None:
    first = keyed_vectors("the cat dog mat log", [9, 5, 3, 2, 1])
    second = keyed_vectors("cat the of dog log mat", [7, 6, 4, 2, 2, 1], seed=2)
    merged = merge_vectors([first, second])
    assert isinstance(merged, KeyedVectors)
    assert merged.index_to_key == ["the", "cat", "dog", "of", "mat", "log"]
    assert [merged.get_vecattr(word, "count") for word in merged.index_to_key] == [15, 12, 5, 4, 3, 3]
    assert [merged.get_index(word) for word in merged.index_to_key] == list(range(6))
    assert merged.vectors.shape == (6, SIZE)
    assert first.index_to_key == ["the", "cat", "dog", "mat", "log"]


def test_vectors_without_counts_count_by_rank_as_gensim_reads_them() -> None:
    merged = merge_vectors([keyed_vectors("b a c d e"), keyed_vectors("b c a e d", seed=2)])
    assert merged.expandos["count"].tolist() == [10, 7, 7, 3, 3]
    assert merged.index_to_key == ["b", "a", "c", "d", "e"]


def test_rotated_models_merge_into_their_common_directions() -> None:
    first = keyed_vectors(WORDS, list(range(10, 0, -1)))
    merged = merge_vectors([first, rotated(first)])
    np.testing.assert_allclose(cosines(merged.vectors), cosines(first.vectors), atol=1e-4)
    assert [word for word, _ in merged.most_similar("cat")] == [word for word, _ in first.most_similar("cat")]


@pytest.mark.parametrize(("method", "size"), [("alir", 4), ("pca", 4), ("concatenate", 8), ("average", 4)])
def test_each_method_has_its_size(method: str, size: int) -> None:
    first = keyed_vectors(WORDS, list(range(10, 0, -1)))
    assert merge_vectors([first, rotated(first)], method).vector_size == size
    assert method in METHODS


def test_merged_vectors_are_saved_and_loaded(tmp_path: Path) -> None:
    first = keyed_vectors(WORDS, list(range(10, 0, -1)))
    merged = merge_vectors([first, rotated(first)], vector_size=3)
    merged.save(str(tmp_path / "merged.kv"))
    loaded = KeyedVectors.load(str(tmp_path / "merged.kv"), mmap="r")
    np.testing.assert_array_equal(loaded.vectors, merged.vectors)
    assert loaded.index_to_key == merged.index_to_key
    again = merge_vectors([loaded, loaded])
    np.testing.assert_allclose(cosines(again.vectors), cosines(merged.vectors), atol=1e-4)


def test_vectors_of_models_are_merged() -> None:
    models = [Word2Vec([WORDS.split()] * 5, min_count=1, vector_size=SIZE, workers=1, seed=seed) for seed in (1, 2)]
    assert len(merge_vectors([model.wv for model in models])) == 10
    with pytest.raises(TypeError, match=r"takes KeyedVectors, such as model.wv, not Word2Vec"):
        merge_vectors(models)


def test_a_bar_is_drawn_if_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    both = [keyed_vectors(WORDS), keyed_vectors(WORDS, seed=2)]
    merge_vectors(both)
    assert capsys.readouterr().err == ""
    merge_vectors(both, progress=True)
    assert "merging 100%" in capsys.readouterr().err


@pytest.fixture
def files(scratch: Path) -> Path:
    """Write two models to the working directory; return it."""
    first = keyed_vectors(WORDS, list(range(10, 0, -1)))
    first.save("first.kv")
    rotated(first).save_word2vec_format("second.bin", binary=True)
    keyed_vectors("other words").save("apart.kv")
    return scratch


@pytest.mark.parametrize("output", ["merged.kv", "merged.txt", "merged.bin", "merged.txt.gz"])
def test_the_command_merges_files_of_all_formats(files: Path, output: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("merge", "first.kv", "second.bin", "--output", output, "--vector-size", 4) == 0
    assert f"{output}: 10 words of 4 numbers from 10 + 10" in capsys.readouterr().out
    assert run("neighbours", output, "cat", "--topn", 3) == 0
    expected = [word for word, _ in KeyedVectors.load("first.kv").most_similar("cat", topn=3)]
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]] == expected


def test_the_command_is_quiet_if_asked(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("merge", "first.kv", "second.bin", "--output", "all.kv", "--quiet") == 0
    assert tuple(capsys.readouterr()) == ("", "")


REFUSED: list[tuple[list[Any], str]] = [
    (["first.kv", "--output", "new.kv"], "one MODEL alone, 'first.kv', cannot be merged"),
    (["first.kv", "second.bin", "--output", "new"], "(.bin) or keyed-vectors (.kv), not to 'new' as 'gensim'"),
    (["first.kv", "second.bin", "--output", "new.kv.gz"], "cannot be compressed, as 'new.kv.gz' asks for"),
    (["first.kv", "second.bin", "--output", "first.kv"], "'first.kv' is there already; --force"),
    (["first.kv", "second.bin", "--output", "missing/new.kv"], "output folder 'missing' is not there"),
    (["first.kv", "missing.kv", "--output", "new.kv"], "model 'missing.kv' is not there"),
    (["first.kv", "apart.kv", "--output", "new.kv"], "sub-model 2 of 2 shares no word with the others"),
    (["first.kv", "second.bin", "--output", "new.kv", "--vector-size", 9], "size 9 is not between 1 and 8"),
    (["first.kv", "second.bin", "--output", "new.kv", "--method", "alr"], "invalid choice: 'alr'"),
    (["first.kv", "second.bin", "--output", "new.kv", "--safe"], "'first.kv' are a pickle"),
]


@pytest.mark.parametrize(("arguments", "reason"), REFUSED)
def test_the_command_says_what_is_wrong_and_writes_nothing(
    files: Path, capsys: pytest.CaptureFixture[str], arguments: list[Any], reason: str
) -> None:
    before = (files / "first.kv").read_bytes()
    assert run("merge", *arguments) == 2
    assert reason in error_of(capsys)
    assert sorted(file.name for file in files.iterdir()) == ["apart.kv", "first.kv", "second.bin"]
    assert (files / "first.kv").read_bytes() == before


def test_the_command_overwrites_one_of_its_models_if_forced(files: Path) -> None:
    assert run("merge", "first.kv", "second.bin", "--output", "first.kv", "--force") == 0
    assert len(KeyedVectors.load("first.kv")) == 10
