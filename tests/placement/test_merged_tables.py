"""A merge of sub-models' tables: scores, scale and coordinates stay, and words that only some have trained count."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from gensim_tfw2v.blocks.huffman import HuffmanTree, build_huffman_tree
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.partition.merged_tables import merge_tables

WORDS, SIZE = 300, 8


class Tables:
    """A sub-model in memory."""

    def __init__(self, is_trained: np.ndarray, **tables: np.ndarray) -> None:
        self._is_trained, self.tables = is_trained, tables

    def read_table(self, name: str, values: np.ndarray) -> None:
        np.copyto(values, self.tables[name])

    def trained(self) -> np.ndarray:
        return self._is_trained


def rotation(seed: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(SIZE, SIZE)))[0]


def turned_submodels(missing: float = 0.0, nodes: bool = False) -> tuple[dict[str, np.ndarray], list[Tables]]:
    """Return tables, and three sub-models that have them in coordinates of their own, with noise for missing words."""
    rng = np.random.default_rng(1)
    names = {"inputs": WORDS, "outputs": WORDS} | ({"nodes": WORDS - 1} if nodes else {})
    truth = {name: rng.normal(size=(rows, SIZE)) for name, rows in names.items()}
    submodels = []
    for seed in range(3):
        is_trained = rng.random(WORDS) >= missing
        is_trained[:100] = True
        tables = {name: (values @ rotation(seed)).astype(np.float32) for name, values in truth.items()}
        for name in ("inputs", "outputs"):
            tables[name][~is_trained] = 0.1
        submodels.append(Tables(is_trained, **tables))
    return truth, submodels


def merged(
    submodels: Sequence[Tables], method: str, tree: HuffmanTree | None = None, locks: np.ndarray | None = None
) -> ModelTables:
    names = submodels[0].tables
    empty = {name: np.full_like(values, np.nan) for name, values in names.items()}
    locks = np.ones(1, np.float32) if locks is None else locks
    into = ModelTables(empty["inputs"], empty.get("outputs"), empty.get("nodes"), locks)
    merge_tables(submodels, into, method, tree)
    return into


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_merged_inputs_and_outputs_have_the_scores_of_the_sub_models(missing: float) -> None:
    truth, submodels = turned_submodels(missing)
    found = merged(submodels, "alir")
    assert found.outputs is not None
    is_known = np.any([submodel.trained() for submodel in submodels], axis=0)
    expected = truth["inputs"] @ truth["outputs"].T
    np.testing.assert_allclose(
        (found.inputs @ found.outputs.T)[is_known][:, is_known], expected[is_known][:, is_known], atol=0.01
    )


def test_principal_components_keep_the_scale_of_scores() -> None:
    """The components are lengthened by the number of sub-models, and lose the mean vector."""
    truth, submodels = turned_submodels()
    found = merged(submodels, "pca")
    assert found.outputs is not None
    expected = truth["inputs"] @ truth["outputs"].T
    scores = found.inputs @ found.outputs.T
    assert np.corrcoef(scores.ravel(), expected.ravel())[0, 1] > 0.98
    assert 0.9 < np.std(scores) / np.std(expected) < 1.1


def test_nodes_are_turned_as_the_inputs_are_and_count_where_a_trained_word_is_below_them() -> None:
    truth, submodels = turned_submodels(0.3, nodes=True)
    tree = build_huffman_tree(np.arange(WORDS, 0, -1), np.arange(WORDS))
    paths = [set(tree.nodes[first:end].tolist()) for first, end in itertools.pairwise(tree.offsets)]
    for submodel in submodels:
        above = set().union(*(paths[word] for word in np.flatnonzero(submodel.trained())))
        submodel.tables["nodes"][[node for node in range(WORDS - 1) if node not in above]] = 0.1
    found = merged(submodels, "alir", tree)
    assert found.nodes is not None
    is_known = np.any([submodel.trained() for submodel in submodels], axis=0)
    above = sorted(set().union(*(paths[word] for word in np.flatnonzero(is_known))))
    scores, expected = found.inputs @ found.nodes.T, truth["inputs"] @ truth["nodes"].T
    np.testing.assert_allclose(scores[is_known][:, above], expected[is_known][:, above], atol=0.01)


def test_the_result_has_the_coordinates_of_the_sub_model_that_trained_most_words() -> None:
    _, submodels = turned_submodels(0.3)
    largest = max(submodels, key=lambda submodel: submodel.trained().sum())
    found = merged(submodels, "alir")
    own = largest.trained()
    np.testing.assert_allclose(found.inputs[own], largest.tables["inputs"][own], atol=0.01)


def test_words_that_no_sub_model_trained_and_locked_ones_keep_their_vectors() -> None:
    _, submodels = turned_submodels()
    for submodel in submodels:
        submodel._is_trained[-5:] = False
        submodel.tables["inputs"][-5:] = 3.0
        submodel.tables["inputs"][:4] = 2.0
    locks = np.ones(WORDS, np.float32)
    locks[:4] = 0
    found = merged(submodels, "alir", locks=locks)
    np.testing.assert_array_equal(found.inputs[-5:], 3.0)
    np.testing.assert_array_equal(found.inputs[:4], 2.0)
    assert np.isfinite(found.inputs).all()


def test_a_plain_average_turns_nothing() -> None:
    _, submodels = turned_submodels()
    found = merged(submodels, "average")
    for name, values in found.present().items():
        np.testing.assert_allclose(values, np.mean([own.tables[name] for own in submodels], axis=0), atol=0.02)


def test_sub_models_without_common_words_are_averaged_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    _, submodels = turned_submodels()
    for number, submodel in enumerate(submodels):
        submodel._is_trained = np.arange(WORDS) % 3 == number
    found = merged(submodels, "alir")
    assert "averaged" in caplog.text
    for number, submodel in enumerate(submodels):
        ratio = found.inputs[number::3] / submodel.tables["inputs"][number::3]
        np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-4)


def test_one_sub_model_is_the_result() -> None:
    _, submodels = turned_submodels(0.3)
    for name, values in merged(submodels[:1], "alir").present().items():
        np.testing.assert_array_equal(values, submodels[0].tables[name])
