"""One worker and one seed give the same vectors, to the bit, on every run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.contract import SENTENCES, assert_equal_models, learnt_arrays

ARGUMENTS: dict[str, Any] = {"vector_size": 8, "min_count": 1, "workers": 1, "epochs": 2}

IN_A_NEW_PROCESS = """
import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
from support.contract import SENTENCES, learnt_arrays
from {module} import {name} as Model

model = Model(SENTENCES, vector_size=8, min_count=1, workers=1, epochs=2, seed=7, sg=1, hs=1)
np.savez(sys.argv[2], **learnt_arrays(model))
"""


def test_the_same_seed_gives_equal_vectors(word2vec_class: type[Any], mode: dict[str, int]) -> None:
    models = [word2vec_class(SENTENCES, seed=7, **ARGUMENTS, **mode) for _ in range(2)]
    assert_equal_models(*models)


def test_different_seeds_give_different_vectors(word2vec_class: type[Any], mode: dict[str, int]) -> None:
    first, second = (word2vec_class(SENTENCES, seed=seed, **ARGUMENTS, **mode) for seed in (7, 8))
    assert not np.allclose(first.wv.vectors, second.wv.vectors, atol=1e-3)


def test_a_large_corpus_gives_equal_vectors_again(word2vec_class: type[Any], lee: list[list[str]]) -> None:
    models = [word2vec_class(lee, vector_size=16, seed=7, sg=1, workers=1, epochs=2) for _ in range(2)]
    assert_equal_models(*models)


def test_a_corpus_file_gives_equal_vectors_again(word2vec_class: type[Any], lee_file: Path) -> None:
    arguments = {"vector_size": 16, "seed": 7, "workers": 1, "epochs": 2}
    models = [word2vec_class(corpus_file=str(lee_file), **arguments) for _ in range(2)]
    assert_equal_models(*models)


def test_training_in_two_halves_is_repeatable_too(word2vec_class: type[Any]) -> None:
    models = []
    for _ in range(2):
        model = word2vec_class(SENTENCES, seed=7, **ARGUMENTS)
        model.train(SENTENCES, total_examples=len(SENTENCES), epochs=1)
        models.append(model)
    assert_equal_models(*models)


def test_another_process_with_other_hashes_gives_equal_vectors(word2vec_class: type[Any], tmp_path: Path) -> None:
    here = word2vec_class(SENTENCES, vector_size=8, min_count=1, workers=1, epochs=2, seed=7, sg=1, hs=1)
    module = "gensim.models" if word2vec_class.__name__ == "Word2Vec" else "gensim_tfw2v"
    script = IN_A_NEW_PROCESS.format(module=module, name=word2vec_class.__name__)
    output = tmp_path / "arrays.npz"
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = os.environ | {"PYTHONHASHSEED": "1234", "PYTHONPATH": paths}
    command = [sys.executable, "-c", script, str(Path(__file__).parents[1]), str(output)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    with np.load(output) as there:
        for name, array in learnt_arrays(here).items():
            np.testing.assert_array_equal(there[name], array, err_msg=name)


def test_the_vectors_before_training_are_gensims(tfword2vec_class: type[Any]) -> None:
    from gensim.models import Word2Vec

    models = []
    for word2vec in (Word2Vec, tfword2vec_class):
        model = word2vec(seed=7, **ARGUMENTS)
        model.build_vocab(SENTENCES)
        models.append(model)
    assert_equal_models(*models)


@pytest.mark.parametrize("cache", [{"cache_memory": 0}, {"cache_memory": 0, "cache_disk": 2**20}])
def test_where_the_corpus_is_cached_makes_no_difference(tfword2vec_class: type[Any], cache: dict[str, int]) -> None:
    models = [tfword2vec_class(SENTENCES, seed=7, **ARGUMENTS, **settings) for settings in ({}, cache)]
    assert_equal_models(*models)
