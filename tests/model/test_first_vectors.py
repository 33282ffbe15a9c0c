"""The first vectors of documents are those with which gensim begins to infer each of them."""

from __future__ import annotations

import numpy as np
import pytest
from gensim.models.keyedvectors import pseudorandom_weak_vector
from hypothesis import given
from hypothesis import strategies as st

from gensim_tfw2v import arrays
from gensim_tfw2v.model.first_vectors import first_vectors


def gensims(seeds: list[int], size: int) -> np.ndarray:
    rows = [pseudorandom_weak_vector(size, "text", hashfxn=lambda _, seed=seed: seed) for seed in seeds]
    return np.array(rows, np.float32).reshape(len(seeds), size)


@given(st.lists(st.integers(-(2**62), 2**62), max_size=8), st.integers(1, 40))
def test_first_vectors_are_those_of_gensim(seeds: list[int], size: int) -> None:
    found = first_vectors(seeds, size)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, gensims(seeds, size))


@pytest.mark.parametrize("at_once", [1, 3, 100])
def test_first_vectors_are_the_same_however_many_are_drawn_at_once(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrays, "_NUMBERS_AT_ONCE", 5 * at_once)
    seeds = [0, 1, 2**32 - 1, 2**32, -1, *range(50, 60)]
    np.testing.assert_array_equal(first_vectors(seeds, 5), gensims(seeds, 5))
