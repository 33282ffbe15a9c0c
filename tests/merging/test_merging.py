"""Merging: the numbers of the methods against plain NumPy, missing words, and what is refused."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes
from scipy.stats import ortho_group
from support.plain_merging import cosines, plain_alir, plain_completion, whole_matrices

from gensim_tfw2v.merging import METHODS, joint, products
from gensim_tfw2v.merging.joint import SubModel
from gensim_tfw2v.merging.merge import merge_submodels

WORDS, SIZE = 300, 8


def sub_models(count: int, missing: float = 0.0, noise: float = 0.3, seed: int = 1) -> list[SubModel]:
    """Return noisy rotated copies of random vectors, in each of which some words are missing."""
    random = np.random.default_rng(seed)
    truth = random.standard_normal((WORDS, SIZE)) * np.linspace(2, 0.5, SIZE)
    made = []
    for number in range(count):
        rotation = ortho_group.rvs(SIZE, random_state=random)
        vectors = (truth @ rotation + noise * random.standard_normal(truth.shape)) * (number + 1)
        present = random.permutation(np.flatnonzero(random.random(WORDS) >= missing))
        if number == 0:
            present = np.arange(WORDS)
        rows = np.full(WORDS, -1, np.int64)
        rows[present] = np.arange(len(present))
        made.append(SubModel(vectors[present].astype(np.float32), rows))
    return made


def distance(matrices: Sequence[np.ndarray], consensus: np.ndarray) -> float:
    """Return the sum of squared distances of matrices, each rotated onto a consensus as well as can be, from it."""
    total = 0.0
    for matrix in matrices:
        present = np.isfinite(matrix[:, 0])
        rotation, _ = orthogonal_procrustes(matrix[present], consensus[present])
        total += np.sum((matrix[present] @ rotation - consensus[present]) ** 2)
    return total


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide the words into several pieces."""
    monkeypatch.setattr(joint, "_PIECE_NUMBERS", 64 * SIZE)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_alir_equals_the_papers_rounds(missing: float) -> None:
    models = sub_models(4, missing)
    merged = merge_submodels(models, tolerance=1e-9, most_rounds=500)
    expected, _ = plain_alir(whole_matrices(models), SIZE, rounds=300)
    assert merged.dtype == np.float32
    np.testing.assert_allclose(merged @ merged.T, expected @ expected.T, atol=1e-3)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_few_rounds_get_as_close_as_many_of_the_papers(missing: float) -> None:
    models = sub_models(5, missing, noise=2.0)
    matrices = whole_matrices(models)
    consensus, _ = plain_alir(matrices, SIZE, rounds=50)
    merged = merge_submodels(models, tolerance=0, most_rounds=5)
    assert distance(matrices, merged) <= 1.0001 * distance(matrices, consensus)


def test_alir_undoes_rotations_and_lengths() -> None:
    models = sub_models(3, noise=0.0)
    merged = merge_submodels(models)
    np.testing.assert_allclose(cosines(merged), cosines(models[0].vectors[models[0].rows]), atol=1e-4)


def test_alir_is_nearer_to_the_truth_than_each_sub_model() -> None:
    truth = cosines(sub_models(1, noise=0.0)[0].vectors)
    models = sub_models(5, noise=0.5)
    errors = [np.abs(cosines(model.vectors[model.rows]) - truth).mean() for model in models]
    assert np.abs(cosines(merge_submodels(models)) - truth).mean() < 0.7 * min(errors)


def test_concatenation_has_each_sub_models_vectors_and_reconstructs_missing_ones() -> None:
    models = sub_models(3, 0.3)
    merged = merge_submodels(models, "concatenate", tolerance=1e-9, most_rounds=500)
    expected = plain_completion(whole_matrices(models), SIZE, rounds=300)
    np.testing.assert_allclose(merged, expected, atol=1e-3)


def test_pca_is_that_of_the_completed_concatenation() -> None:
    models = sub_models(3, 0.3)
    merged = merge_submodels(models, "pca", 5, tolerance=1e-9, most_rounds=500)
    rows = plain_completion(whole_matrices(models), SIZE, rounds=300)
    left, values, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    expected = (left * values)[:, :5]
    np.testing.assert_allclose(merged @ merged.T, expected @ expected.T, atol=1e-2)


def test_the_average_is_over_the_sub_models_that_have_a_word() -> None:
    models = sub_models(3, 0.3)
    np.testing.assert_allclose(
        merge_submodels(models, "average"), np.nanmean(whole_matrices(models), axis=0), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("method", METHODS)
def test_one_sub_model_keeps_its_cosines(method: str) -> None:
    model = sub_models(1)[0]
    vectors = model.vectors - model.vectors.mean(axis=0) if method == "pca" else model.vectors
    np.testing.assert_allclose(cosines(merge_submodels([model], method)), cosines(vectors), atol=1e-5)


@pytest.mark.parametrize("method", ["alir", "pca"])
@pytest.mark.parametrize("size", [3, SIZE, 12])
def test_the_size_is_free(method: str, size: int) -> None:
    merged = merge_submodels(sub_models(3, 0.2), method, size)
    assert merged.shape == (WORDS, size)
    assert np.isfinite(merged).all()


def test_sub_models_of_different_sizes_are_merged() -> None:
    wide, narrow = sub_models(2)
    narrow = SubModel(narrow.vectors[:, :5], narrow.rows)
    assert merge_submodels([wide, narrow]).shape == (WORDS, SIZE)
    assert merge_submodels([wide, narrow], "concatenate").shape == (WORDS, SIZE + 5)
    with pytest.raises(ValueError, match="sub-models of one size, not 5, 8"):
        merge_submodels([wide, narrow], "average")


def chain(overlap: int) -> list[SubModel]:
    """Return three sub-models, each of which shares `overlap` words with the next, and none with the others."""
    made = []
    for number, model in enumerate(sub_models(3, noise=0.0)):
        rows = np.full(WORDS, -1, np.int64)
        kept = slice(max(0, 100 * number - overlap), 100 * (number + 1))
        rows[kept] = model.rows[kept]
        made.append(SubModel(model.vectors, rows))
    return made


def test_without_common_words_sub_models_are_rotated_one_after_the_other() -> None:
    merged = merge_submodels(chain(overlap=2 * SIZE))
    np.testing.assert_allclose(cosines(merged), cosines(sub_models(1, noise=0.0)[0].vectors), atol=1e-4)


def test_few_shared_words_are_a_warning_and_none_an_error(caplog: pytest.LogCaptureFixture) -> None:
    assert np.isfinite(merge_submodels(chain(overlap=3))).all()
    assert "shares only 3 words" in caplog.text
    with pytest.raises(ValueError, match=r"sub-model \d of 3 shares no word"):
        merge_submodels(chain(overlap=0))


def test_a_sub_model_without_words_changes_nothing() -> None:
    models = sub_models(3, 0.2)
    empty = SubModel(np.empty((0, SIZE), np.float32), np.full(WORDS, -1, np.int64))
    np.testing.assert_array_equal(merge_submodels([*models, empty]), merge_submodels(models))


def test_words_in_no_sub_model_are_an_error_with_their_number() -> None:
    models = sub_models(2, 0.5)[1:]
    missing = int((models[0].rows < 0).sum())
    with pytest.raises(ValueError, match=rf"{missing} of 300 words are in no sub-model"):
        merge_submodels(models)


def refused() -> list[tuple[Sequence[SubModel], dict[str, object], str]]:
    good = sub_models(2)
    rows = good[0].rows
    infinite = good[0].vectors.copy()
    infinite[3, 2] = np.inf
    return [
        ([], {}, "there are no sub-models"),
        (good, {"method": "alr"}, "method 'alr' is unknown; choose one of 'alir'"),
        (good, {"size": 0}, "size 0 is not between 1 and 16"),
        (good, {"size": 17}, "size 17 is not between 1 and 16"),
        (good, {"method": "concatenate", "size": 8}, "gives vectors of size 16, not 8"),
        (good, {"method": "average", "size": 4}, "gives vectors of size 8, not 4"),
        ([good[0], SubModel(good[1].vectors, rows[1:])], {}, "sub-model 2 of 2 has rows for 299 words"),
        (
            [good[0], SubModel(good[1].vectors, rows + 1)],
            {},
            "sub-model 2 of 2 has 300 vectors, but rows from 1 to 300",
        ),
        ([good[0], SubModel(good[1].vectors[0], rows)], {}, r"sub-model 2 of 2 has vectors of shape \(8,\)"),
        ([good[1], SubModel(infinite, rows)], {}, "sub-model 2 of 2 has vectors that are not finite"),
    ]


@pytest.mark.parametrize(("models", "arguments", "message"), refused())
def test_what_cannot_be_merged_is_refused(models: list[SubModel], arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        merge_submodels(models, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", METHODS)
def test_progress_rises_to_one(method: str) -> None:
    seen: list[float] = []
    merge_submodels(sub_models(3, 0.2), method, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1)
    assert len(seen) > 4


def test_memory_maps_are_read_in_place(tmp_path: Path) -> None:
    models = sub_models(2)
    mapped = []
    for number, model in enumerate(models):
        np.save(tmp_path / f"{number}.npy", model.vectors)
        mapped.append(SubModel(np.load(tmp_path / f"{number}.npy", mmap_mode="r"), model.rows))
    np.testing.assert_array_equal(merge_submodels(mapped), merge_submodels(models))


def test_iterations_find_the_largest_directions_of_wide_concatenations(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.random.default_rng(1).standard_normal((200, 120)) * np.linspace(3, 0.5, 120)
    exact = products.largest_directions(matrix.T @ matrix, 10, seed=1)
    monkeypatch.setattr(products, "_EXACT_WIDTH", 100)
    found = products.largest_directions(matrix.T @ matrix, 10, seed=1)
    assert np.linalg.svd(exact.T @ found)[1].min() > 0.99


def test_rounds_that_do_not_end_are_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    merge_submodels(sub_models(3), tolerance=0, most_rounds=2)
    assert "after 2 rounds the consensus still moves by" in caplog.text


def test_merging_takes_less_memory_than_the_sub_models() -> None:
    random, words = np.random.default_rng(1), 8_000
    models = [
        SubModel(
            random.standard_normal((words, 16), np.float32), np.where(random.random(words) < 0.9, np.arange(words), -1)
        )
        for _ in range(10)
    ]
    tracemalloc.start()
    try:
        merge_submodels(models, "pca", most_rounds=2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < sum(model.vectors.nbytes for model in models)
