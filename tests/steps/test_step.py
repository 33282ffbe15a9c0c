"""A training step equals plain loops over pairs, whatever the batch holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.example_blocks import SETTINGS
from support.placements import PLACEMENTS, MakePlacement, in_this_process_without_c
from support.reference import ReferenceModel
from support.reference_blocks import as_reference_batches, gensim_paths, small_vocabulary
from support.step_objectives import (
    SOME_WITHOUT_C,
    Objective,
    mostly_slow,
    objectives,
    slow,
    with_adagrad,
    with_some_slow,
)

from gensim_tfw2v.blocks.batches import BatchShape, BlockMaker, Windows
from gensim_tfw2v.blocks.chunk_task import ChunkTask, prepare
from gensim_tfw2v.blocks.huffman import HuffmanTree
from gensim_tfw2v.blocks.sampling import NegativeSampler
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.row_states import with_states
from gensim_tfw2v.steps.arguments import objective_of
from gensim_tfw2v.steps.settings import ADAGRAD, FREEZABLE, SGD, StepSettings

LEARNING_RATE = 0.05
TOLERANCES = {"float32": 1e-5, "bfloat16": 0.02}
ROUNDING = {"float32": 2**-24, "bfloat16": 2**-9}  # most that a number is off, relatively
MOST_BY_ROUNDING = 0.1  # of the tolerance: what rounding may change in an example of Adagrad
FAR = 4  # times what rounding changes: a difference that it does not explain


@st.composite
def corpora(draw: st.DrawFn, fewest_words: int = 2) -> tuple[int, list[list[int]], int, BatchShape, int]:
    """Draw a vocabulary size, sentences, a window, a batch shape and a seed: duplicates and boundaries abound."""
    vocabulary = draw(st.integers(fewest_words, 9))
    sentences = draw(st.lists(st.lists(st.integers(0, vocabulary - 1), min_size=1, max_size=9), min_size=1, max_size=7))
    run = draw(st.sampled_from([1, 2, 3, 4, 8]))
    shape = BatchShape(run * draw(st.integers(1, 4)), run, draw(st.integers(1, 5)))
    return vocabulary, sentences, draw(st.sampled_from([1, 2, 5, 10, 11, 40])), shape, draw(st.integers(0, 2**31))


def test_cbow_has_the_same_graph_whatever_the_number_format_of_products() -> None:
    cbow = replace(SETTINGS, skip_gram=False)
    assert objective_of(cbow) == objective_of(replace(cbow, compute_dtype="bfloat16"))
    assert objective_of(SETTINGS) != objective_of(replace(SETTINGS, compute_dtype="bfloat16"))


ANY_TRAINING: dict[str, Any] = {
    "corpus": corpora(),
    "bound": st.sampled_from([0.02, 0.25, 1.0]),
    "locked": st.booleans(),
    "fixed": st.booleans(),
}
# Graphs of shared rows depend on how many rows a shard has, and so on the size of the vocabulary.
TRAINING_OF_ONE_SIZE = ANY_TRAINING | {"corpus": corpora(fewest_words=9)}


@pytest.mark.parametrize("objective", with_some_slow(objectives()), ids=str)
@given(**ANY_TRAINING)
@settings(max_examples=10)
def test_a_block_moves_every_row_as_plain_loops_do(objective: Objective, **training: Any) -> None:
    assert_moves_rows_as_plain_loops_do(PLACEMENTS["local"], objective, **training)


@pytest.mark.parametrize("objective", mostly_slow(objectives(), SOME_WITHOUT_C) + slow(with_adagrad()), ids=str)
@given(**ANY_TRAINING)
@settings(max_examples=5)
def test_a_block_moves_every_row_without_c_as_plain_loops_do(objective: Objective, **training: Any) -> None:
    assert_moves_rows_as_plain_loops_do(in_this_process_without_c, objective, **training)


@pytest.mark.slow
@pytest.mark.parametrize("freeze", FREEZABLE)
@pytest.mark.parametrize("objective", objectives(), ids=str)
@given(**ANY_TRAINING)
@settings(max_examples=3)
def test_a_block_moves_no_frozen_row_without_c(objective: Objective, freeze: str, **training: Any) -> None:
    assert_moves_rows_as_plain_loops_do(in_this_process_without_c, objective, freeze=freeze, **training)


@pytest.mark.parametrize("objective", mostly_slow(objectives()), ids=str)
@given(**ANY_TRAINING)
@settings(max_examples=4)
def test_a_block_on_a_cluster_moves_every_row_as_plain_loops_do(objective: Objective, **training: Any) -> None:
    assert_moves_rows_as_plain_loops_do(PLACEMENTS["cluster"], objective, **training)


@pytest.mark.parametrize("objective", mostly_slow(with_adagrad()), ids=str)
@given(**ANY_TRAINING)
@settings(max_examples=5)
def test_a_block_moves_every_row_as_plain_loops_with_adagrad_do(objective: Objective, **training: Any) -> None:
    assert_moves_rows_as_plain_loops_do(PLACEMENTS["local"], objective, **training)


@pytest.mark.slow
@pytest.mark.parametrize("objective", with_adagrad(), ids=str)
@given(**ANY_TRAINING)
@settings(max_examples=4)
def test_a_block_on_a_cluster_moves_every_row_as_plain_loops_with_adagrad_do(
    objective: Objective, **training: Any
) -> None:
    assert_moves_rows_as_plain_loops_do(PLACEMENTS["cluster"], objective, **training)


@pytest.mark.parametrize("freeze", FREEZABLE)
@pytest.mark.parametrize("objective", mostly_slow(objectives()), ids=str)
@given(**ANY_TRAINING)
@settings(max_examples=3)
def test_a_block_moves_no_frozen_row_and_all_others_as_plain_loops_do(
    objective: Objective, freeze: str, **training: Any
) -> None:
    assert_moves_rows_as_plain_loops_do(PLACEMENTS["local"], objective, freeze=freeze, **training)


@pytest.mark.slow
@pytest.mark.parametrize("freeze", FREEZABLE)
@pytest.mark.parametrize("objective", objectives(), ids=str)
@given(**TRAINING_OF_ONE_SIZE)
@settings(max_examples=2)
def test_a_block_on_a_cluster_moves_no_frozen_row_and_all_others_as_plain_loops_do(
    objective: Objective, freeze: str, **training: Any
) -> None:
    assert_moves_rows_as_plain_loops_do(PLACEMENTS["cluster"], objective, freeze=freeze, **training)


@pytest.mark.parametrize("objective", mostly_slow([*objectives(), *with_adagrad()]), ids=str)
@given(**ANY_TRAINING)
@settings(max_examples=5)
def test_a_block_of_weighted_sentences_moves_every_row_as_plain_loops_do(objective: Objective, **training: Any) -> None:
    assert_moves_rows_as_plain_loops_do(PLACEMENTS["local"], objective, weighted=True, **training)


@pytest.mark.slow
@pytest.mark.parametrize("objective", objectives(), ids=str)
@given(**TRAINING_OF_ONE_SIZE)
@settings(max_examples=2)
def test_a_block_of_weighted_sentences_on_a_cluster_moves_every_row_as_plain_loops_do(
    objective: Objective, **training: Any
) -> None:
    assert_moves_rows_as_plain_loops_do(PLACEMENTS["cluster"], objective, weighted=True, **training)


def assert_moves_rows_as_plain_loops_do(
    make_placement: MakePlacement,
    objective: Objective,
    corpus: tuple[int, list[list[int]], int, BatchShape, int],
    bound: float,
    locked: bool,
    fixed: bool,
    freeze: str | None = None,
    weighted: bool = False,
) -> None:
    skip_gram, negative, tree, mean, compute_dtype, windows, even, adagrad = objective
    if fixed and windows is Windows.DRAWN:
        windows = Windows.FIXED  # of the same graph
    vocabulary, sentences, window, shape, seed = corpus
    rng = np.random.default_rng(seed)
    gensim_model = small_vocabulary(vocabulary, rng)
    maker = BlockMaker(
        skip_gram=skip_gram,
        window=window,
        windows=windows,
        shape=shape,
        keep=None,
        negatives=NegativeSampler(gensim_model.cum_table) if negative else None,
        tree=HuffmanTree.of(gensim_model.wv) if tree else None,
    )
    ids = np.array([word for sentence in sentences for word in sentence], np.int32)
    lengths = np.array([len(sentence) for sentence in sentences], np.int32)
    weights = rng.choice([0.5, 1.0, 2.5], len(sentences)).astype(np.float32) if weighted else None
    task = ChunkTask(Sentences(ids, lengths, weights), (seed,), LEARNING_RATE, LEARNING_RATE, exact_loss=True)
    prepared = prepare(maker, task)
    assert prepared is not None
    locks = rng.integers(0, 2, vocabulary).astype(np.float32) if locked else np.ones(1, np.float32)
    # Where numbers are exact enough to tell, nodes so long that some of their scores are too far from 0 to count.
    spreads = (0.8, 0.8, 2.4 if compute_dtype == "float32" else 0.8)
    tables = [rng.normal(0, spread, (vocabulary, 4)).astype(np.float32) for spread in spreads]
    trained = ModelTables(
        tables[0].copy(), tables[1].copy() if negative else None, tables[2].copy() if tree else None, locks
    )
    placement = make_placement(
        StepSettings(
            skip_gram=skip_gram,
            mean_context=mean,
            window=window,
            run_tokens=shape.run_tokens,
            negative=negative,
            shared_negatives=shape.shared_negatives,
            hierarchical_softmax=tree,
            mask_accidental_hits=True,
            max_step=bound,
            compute_dtype=compute_dtype,
            mean_windows=windows is Windows.MEAN,
            even_contexts=even,
            optimizer=ADAGRAD if adagrad else SGD,
            freeze=freeze,
            weighted=weighted,
        ),
        maker,
        1,
    )
    if adagrad:
        placement = with_states(placement)
    placement.load(trained)
    found = placement.train_chunk(task)
    placement.read_into(trained)
    placement.close()

    batches = as_reference_batches(
        prepared.block, sentences, maker, negative, None if weights is None else weights.tolist()
    )

    def untrained_reference() -> ReferenceModel:
        return ReferenceModel(
            *(table.astype(np.float64) for table in tables),
            skip_gram=skip_gram,
            negative=negative,
            paths=gensim_paths(gensim_model) if tree else None,
            cbow_mean=mean,
            max_step=bound,
            locks=locks,
            adagrad=adagrad,
            in_runs=make_placement is not in_this_process_without_c,
            freeze=freeze,
        )

    expected, expected_losses, clipped_rows = untrained_reference(), [], []
    for batch in batches:
        expected_losses.append(expected.train(batch, LEARNING_RATE, ids.tolist()))
        clipped_rows.append(expected.clipped_rows)
    tolerance = TOLERANCES[compute_dtype]
    if adagrad and compute_dtype == "bfloat16":  # its first steps are 20 times as long, and clipped only at the bound
        tolerance *= 3
    difference = expected.largest_difference(trained)
    if adagrad or difference > tolerance:
        for _ in range(3):  # in some examples, the loops themselves make much of rounded rows
            rounded = untrained_reference()
            for batch in batches:
                rounded.train_rounded(batch, LEARNING_RATE, ids.tolist(), ROUNDING[compute_dtype], rng)
            by_rounding = rounded.largest_difference(expected)
            assume(by_rounding < MOST_BY_ROUNDING * tolerance if adagrad else difference > FAR * by_rounding)
    if weighted and compute_dtype == "bfloat16":  # gradients are rounded before the weights multiply them
        tolerance *= 2.5
    assume(expected.closest_call > 10 * tolerance)
    np.testing.assert_allclose(trained.inputs, expected.inputs, atol=tolerance)
    if negative:
        np.testing.assert_allclose(trained.outputs, expected.outputs, atol=tolerance)
    if tree:
        np.testing.assert_allclose(trained.nodes, expected.nodes, atol=tolerance)
    trained_words = [list(zip(batch.windows, batch.weights or [], strict=True)) for batch in batches]
    pairs = [sum(times * np.mean([len(w) for w in word]) for word, times in words) for words in trained_words]
    targets = [sum(times for word, times in words if all(word)) for words in trained_words]
    np.testing.assert_allclose(found.pairs, pairs if skip_gram else targets, rtol=1e-6)
    np.testing.assert_allclose(found.batches.losses, expected_losses, rtol=10 * tolerance, atol=10 * tolerance)
    if compute_dtype == "float32":  # a step at the bound may be on either side of it otherwise
        np.testing.assert_array_equal(found.batches.clipped_rows, clipped_rows)
