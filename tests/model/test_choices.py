"""What a training chooses for vocabularies of text and of walks, and what it keeps when it is resumed."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
from support.contract import assert_equal_models

from gensim_tfw2v import TFWord2Vec, tuning
from gensim_tfw2v.blocks.batches import Windows
from gensim_tfw2v.model.choices import choices_for
from gensim_tfw2v.model.training_plan import placement_for
from gensim_tfw2v.training.state import TrainingChoices

WORDS = 12_000


def chosen(counts: np.ndarray, **arguments: Any) -> TrainingChoices:
    """Return the choices for a vocabulary with these counts."""
    model = TFWord2Vec(min_count=1, workers=1, **arguments)
    model.build_vocab_from_freq({f"w{number}": int(count) for number, count in enumerate(counts)})
    choice = placement_for(model, None, int(counts.sum()))
    return choices_for(model, choice, None, int(counts.sum()))


def flat_counts() -> np.ndarray:
    return np.full(WORDS, 500)


def counts_of_text() -> np.ndarray:
    """Return counts by Zipf's law."""
    return np.ceil(500 * WORDS / np.arange(1, WORDS + 1)).astype(int)


def test_cbow_with_a_wide_window_on_a_flat_vocabulary_draws_windows_and_sums_along_runs() -> None:
    choices = chosen(flat_counts(), window=10)
    assert choices.windows is Windows.DRAWN
    assert choices.settings.even_contexts and not choices.settings.mean_windows


@pytest.mark.parametrize(("counts", "window"), [(counts_of_text(), 10), (counts_of_text(), 5), (flat_counts(), 5)])
def test_text_and_narrow_windows_keep_mean_windows(counts: np.ndarray, window: int) -> None:
    choices = chosen(counts, window=window)
    assert choices.windows is Windows.MEAN
    assert choices.settings.mean_windows and not choices.settings.even_contexts


def test_skip_gram_keeps_mean_windows_on_any_vocabulary() -> None:
    choices = chosen(flat_counts(), window=10, sg=1)
    assert choices.settings.mean_windows and not choices.settings.even_contexts


@pytest.mark.parametrize("arguments", [{"hs": 1, "negative": 0}, {"shrink_windows": False}])
def test_contexts_of_equal_weight_are_summed_along_runs_whatever_the_vocabulary(arguments: dict[str, Any]) -> None:
    for counts in (flat_counts(), counts_of_text()):
        assert chosen(counts, window=10, **arguments).settings.even_contexts
        assert not chosen(counts, window=5, **arguments).settings.even_contexts


def test_a_training_begun_before_there_were_running_sums_resumes_without_them() -> None:
    choices = chosen(flat_counts(), window=10)
    found = json.loads(json.dumps(dataclasses.asdict(choices)))
    assert TrainingChoices.from_json(found) == choices
    del found["settings"]["even_contexts"]
    assert not TrainingChoices.from_json(found).settings.even_contexts


def walks(count: int = 60, length: int = 40, nodes: int = 50) -> list[list[str]]:
    """Return walks along a circle."""
    steps = np.random.default_rng(1).choice([-1, 1, 2], (count, length))
    places = (np.arange(count)[:, None] + np.cumsum(steps, axis=1)) % nodes
    found: list[list[str]] = places.astype(str).tolist()
    return found


@pytest.mark.parametrize("arguments", [{}, {"hs": 1, "negative": 0}, {"cbow_mean": 0, "alpha": 0.005}])
def test_running_sums_give_the_vectors_of_sums_context_by_context(
    arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"vector_size": 16, "window": 10, "min_count": 1, "workers": 1, "sample": 0, "seed": 3, **arguments}
    first, again = (TFWord2Vec(walks(), **settings) for _ in range(2))
    assert_equal_models(first, again)
    monkeypatch.setattr(tuning, "LEAST_WINDOW_FOR_RUNNING_SUMS", 11)
    one_by_one = TFWord2Vec(walks(), **settings)
    np.testing.assert_allclose(first.wv.vectors, one_by_one.wv.vectors, atol=1e-4)
    assert not np.array_equal(first.wv.vectors, one_by_one.wv.vectors)
