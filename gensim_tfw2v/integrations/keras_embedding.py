"""Vectors of words → a layer of Keras."""

from __future__ import annotations

from typing import Any

import numpy as np

from gensim_tfw2v.arguments.rules import check_keyed_vectors
from gensim_tfw2v.runtime.tensorflow import load_tensorflow


def keras_embedding(keyed_vectors: Any, *, trainable: bool = False, unknown: bool = False) -> Any:
    """Return a ``keras.layers.Embedding`` with the vectors of words.

    The layer takes the numbers of words in the vocabulary, ``keyed_vectors.key_to_index``.

    Parameters
    ----------
    keyed_vectors : gensim.models.KeyedVectors
        The vectors, such as ``model.wv``.
    trainable : bool, optional
        Whether training the network changes the vectors.
    unknown : bool, optional
        Whether number 0 stands for unknown words, with a vector of zeros, and a word's number is one higher. So
        ``keras.layers.StringLookup(vocabulary=keyed_vectors.index_to_key)`` numbers words.

    Examples
    --------
    >>> from gensim_tfw2v import keras_embedding
    >>> layer = keras_embedding(model.wv)  # doctest: +SKIP
    """
    check_keyed_vectors("keras_embedding", keyed_vectors)
    load_tensorflow()  # as this package sets it up, before Keras imports it
    import keras

    vectors = np.asarray(keyed_vectors.vectors, np.float32)
    if unknown:
        vectors = np.concatenate([np.zeros((1, vectors.shape[1]), np.float32), vectors])
    layer = keras.layers.Embedding(*vectors.shape, trainable=trainable, name="word_vectors")
    layer.build()
    layer.set_weights([vectors])
    return layer
