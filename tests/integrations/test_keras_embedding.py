"""A layer of Keras has the vectors of words."""

from __future__ import annotations

import numpy as np
import pytest
from gensim.models import KeyedVectors

from gensim_tfw2v import keras_embedding


@pytest.fixture
def vectors() -> KeyedVectors:
    """Return vectors of three words."""
    made = KeyedVectors(4)
    made.add_vectors(["a", "b", "c"], np.arange(12, dtype=np.float32).reshape(3, 4))
    return made


def test_the_layers_output_is_the_vectors_of_words(vectors: KeyedVectors) -> None:
    layer = keras_embedding(vectors)
    numbers = np.array([[vectors.key_to_index[word] for word in sentence] for sentence in ("ab", "cc")])
    expected = np.array([[vectors[word] for word in sentence] for sentence in ("ab", "cc")])
    np.testing.assert_array_equal(np.asarray(layer(numbers)), expected)
    assert not layer.trainable_weights
    assert keras_embedding(vectors, trainable=True).trainable_weights


def test_number_0_may_stand_for_unknown_words(vectors: KeyedVectors) -> None:
    import keras

    numbers = keras.layers.StringLookup(vocabulary=vectors.index_to_key)(np.array([["a", "unknown", "c"]]))
    found = np.asarray(keras_embedding(vectors, unknown=True)(numbers))
    np.testing.assert_array_equal(found[0], [vectors["a"], np.zeros(4), vectors["c"]])
