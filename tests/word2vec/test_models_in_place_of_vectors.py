"""Functions that take a model's vectors say so if they are given the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from gensim.models import Word2Vec
from support.contract import SENTENCES

from gensim_tfw2v import build_index, export_pretrained, export_projector, keras_embedding, score_vectors

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "score_vectors": score_vectors,
    "build_index": build_index,
    "keras_embedding": keras_embedding,
    "export_pretrained": lambda model: export_pretrained(model, "folder"),
    "export_projector": lambda model: export_projector(model, "folder"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_model_in_place_of_its_vectors_is_refused(name: str) -> None:
    model = Word2Vec(SENTENCES, min_count=1, vector_size=4, epochs=1)
    with pytest.raises(TypeError, match=rf"{name} takes KeyedVectors, such as model\.wv, not Word2Vec"):
        FUNCTIONS[name](model)
