"""The share of a block's changes that is kept when other blocks are trained at the same time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.example_blocks import SETTINGS, SIZE, WORDS, maker_from, work_on
from support.example_trees import MIXED, gensim_path, model_of

from gensim_tfw2v import tuning
from gensim_tfw2v.blocks.batches import BatchShape, BlockMaker, Windows
from gensim_tfw2v.blocks.chunk_task import prepare
from gensim_tfw2v.blocks.huffman import HuffmanTree, build_huffman_tree
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.placement.server_rows.staging import stage
from gensim_tfw2v.placement.tasks.assignment import Assignment
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.steps.concurrent_updates import (
    ConcurrentUpdates,
    HotRows,
    at_rates_of_states,
    hot_rows_of,
    kept_changes,
    moment_weights,
)
from gensim_tfw2v.steps.row_sharing import NOT_SHARED, RowSharing
from gensim_tfw2v.steps.signature import Objective
from gensim_tfw2v.tuning import SLOPES, TREE_INPUT_SLOPE

RATE = 0.05
INPUTS, OUTPUTS = slice(0, 7), slice(7, 12)


OBJECTIVE = Objective(True, True, False, True, True, False)
OF_SKIP_GRAM = np.array([1, 0], np.float32)


def matrix(seed: int, rows: int = 12, size: int = SIZE) -> np.ndarray:
    """Return rows that have a direction in common, as vectors of words do."""
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(rows, size)) + 2.0).astype(np.float32)


def hot_rows(concurrent_blocks: int, strength: float = 1.0) -> HotRows:
    """Return rows of which each next one is trained half as much."""
    strengths = strength * np.concatenate([0.5 ** np.arange(7), 0.5 ** np.arange(5)]).astype(np.float32)
    counts = np.array([7, 5, 0], np.int32)
    return HotRows(np.arange(12, dtype=np.int32), strengths, counts, np.float32(concurrent_blocks), OF_SKIP_GRAM)


def kept(change: np.ndarray, start: np.ndarray, rows: HotRows, objective: Objective = OBJECTIVE) -> np.ndarray:
    """Return the changes that are kept, as the graph computes them."""
    hot, scaled = tf.nest.map_structure(tf.convert_to_tensor, rows), change.copy()
    scaled[rows.rows] = kept_changes(hot, objective, start[rows.rows], (start + change)[rows.rows])
    return scaled


def updates_of(rows: HotRows, sharing: RowSharing = NOT_SHARED, objective: Objective = OBJECTIVE) -> ConcurrentUpdates:
    """Return what scales a block's changes."""
    return ConcurrentUpdates(tf.nest.map_structure(tf.convert_to_tensor, rows), objective, sharing)


def partner_directions(start: np.ndarray, rows: HotRows, partners: slice) -> tuple[np.ndarray, np.ndarray]:
    """Return mean squares and directions of the partners, each weighted by its strength."""
    vectors, weights = start[partners].astype(np.float64), rows.strengths[partners].astype(np.float64)
    moment = sum(weight * np.outer(vector, vector) for weight, vector in zip(weights, vectors, strict=True))
    return np.linalg.eigh(moment / weights.sum())


@pytest.mark.parametrize("size", [SIZE, 40])
@pytest.mark.parametrize("concurrent_blocks", [2, 16])
def test_blocks_side_by_side_go_as_far_as_blocks_one_after_the_other(concurrent_blocks: int, size: int) -> None:
    start, goal, rows = matrix(1, size=size), matrix(2, size=size), hot_rows(concurrent_blocks)
    alone, in_turn = np.zeros((2, *start.shape))
    for own, partners in ((INPUTS, OUTPUTS), (OUTPUTS, INPUTS)):
        squares, directions = partner_directions(start, rows, partners)
        for row in range(own.start, own.stop):
            for square, direction in zip(squares, directions.T, strict=True):
                way = direction @ (goal - start)[row] * direction
                rest = np.exp(-rows.strengths[row] * square)  # of the way, that a block leaves
                alone[row] += (1 - rest) * way
                in_turn[row] += (1 - rest**concurrent_blocks) * way
    together = concurrent_blocks * kept(alone.astype(np.float32), start, rows)
    np.testing.assert_allclose(together, in_turn, atol=1e-4)
    assert np.abs(concurrent_blocks * alone - in_turn).max() > 0.1, "there was nothing to take away"


def test_states_keep_all_of_their_change_and_decide_how_much_vectors_keep() -> None:
    start, change, rows = matrix(1), matrix(3), hot_rows(16)
    states, growth = (np.random.default_rng(seed).uniform(0, 400, (12, 1)).astype(np.float32) for seed in range(2))
    wide = np.concatenate([start, states], 1)
    hot = at_rates_of_states(rows, tf.constant(wide))
    np.testing.assert_allclose(hot.strengths, rows.strengths * 200 / np.sqrt(100 + states[:, 0]), rtol=1e-5)
    found = kept(np.concatenate([change, growth], 1), wide, rows, replace(OBJECTIVE, adagrad=True))
    np.testing.assert_allclose(found[:, -1:], growth, rtol=1e-5)
    hot = hot._replace(strengths=np.asarray(hot.strengths))
    np.testing.assert_allclose(found[:, :-1], kept(change, start, hot), atol=1e-5)


def test_one_mean_square_stands_for_all_but_the_longest_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    longest, size, rng = 4, 20, np.random.default_rng(4)
    monkeypatch.setattr(tuning, "DIRECTIONS", longest)
    extents = np.r_[3, 2.5, 2, 1.5, np.geomspace(0.1, 0.05, size - longest)]
    axes, _ = np.linalg.qr(rng.normal(size=(size, size)))
    start = (rng.normal(size=(90, size)) * extents @ axes).astype(np.float32)
    change = rng.normal(size=start.shape).astype(np.float32)
    strengths = rng.uniform(0.1, 1, 90).astype(np.float32)
    counts = np.array([50, 40, 0], np.int32)
    rows = HotRows(np.arange(90, dtype=np.int32), strengths, counts, np.float32(16), OF_SKIP_GRAM)
    found = kept(change, start, rows)
    for own, partners in ((slice(0, 50), slice(50, 90)), (slice(50, 90), slice(0, 50))):
        squares, directions = partner_directions(start, rows, partners)
        squares[:-longest] = squares[:-longest].mean()
        settling = strengths[own, None] * squares
        shares = (1 - np.exp(-16 * settling)) / (16 * (1 - np.exp(-settling)))
        expected = (change[own] @ directions * shares) @ directions.T
        np.testing.assert_allclose(found[own], expected, atol=0.02)
        assert np.abs(change[own] - expected).max() > 0.5, "there was nothing to take away"


def test_directions_follow_from_the_first_rows_and_a_sample_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "ALL_PROBE_ROWS", 2)
    monkeypatch.setattr(tuning, "EVERY_PROBE_ROW", 3)
    start, change, rows = matrix(1), matrix(3), hot_rows(16)
    probes, times = np.array([0, 1, 2, 5, 7, 8, 9]), np.array([1, 1, 3, 3, 1, 1, 3], np.float32)
    np.testing.assert_array_equal(updates_of(rows).probe_rows, probes)
    weights = np.zeros(12, np.float32)
    weights[probes] = times * rows.strengths[probes]
    found = kept(change, start, rows)
    for own, partners in ((INPUTS, OUTPUTS), (OUTPUTS, INPUTS)):
        squares, directions = partner_directions(start, rows._replace(strengths=weights), partners)
        settling = rows.strengths[own, None] * np.maximum(squares, 1e-9)
        shares = (1 - np.exp(-16 * settling)) / (16 * (1 - np.exp(-settling)))
        np.testing.assert_allclose(found[own], (change[own] @ directions * shares) @ directions.T, atol=1e-4)


@pytest.mark.parametrize("is_mean", [True, False])
def test_outputs_of_cbow_are_scaled_by_the_contexts_that_they_are_trained_against(is_mean: bool) -> None:
    contexts, start, change, rng = 3, matrix(1), matrix(3), np.random.default_rng(5)
    weights = np.array([1 / 3, 2 / 3] if is_mean else [3, 6], np.float32)
    rows = hot_rows(16)._replace(moment_weights=weights)
    found = kept(change, start, rows)
    np.testing.assert_allclose(found[INPUTS], kept(change, start, hot_rows(16))[INPUTS], atol=1e-6)
    shares = rows.strengths[INPUTS].astype(np.float64) / rows.strengths[INPUTS].sum()
    drawn = start[INPUTS][rng.choice(7, size=(400_000, contexts), p=shares)].sum(axis=1) / (contexts if is_mean else 1)
    squares, directions = np.linalg.eigh(drawn.T @ drawn / len(drawn))
    settling = rows.strengths[OUTPUTS, None] * squares
    expected = change[OUTPUTS] @ directions * (1 - np.exp(-16 * settling)) / (16 * (1 - np.exp(-settling)))
    np.testing.assert_allclose(found[OUTPUTS], expected @ directions.T, atol=0.02)


def test_rows_whose_partners_are_zeros_keep_all() -> None:
    change, start = matrix(3), matrix(1)
    start[OUTPUTS] = 0
    found = kept(change, start, hot_rows(16))
    np.testing.assert_allclose(found[INPUTS], change[INPUTS], atol=1e-6)
    assert np.isfinite(found).all()


def test_rows_that_are_hardly_trained_keep_all() -> None:
    change = matrix(3)
    np.testing.assert_allclose(kept(change, matrix(1), hot_rows(16, strength=1e-9)), change, atol=1e-5)


def test_rows_that_are_not_hot_keep_all() -> None:
    change, rows = matrix(3, 20), hot_rows(16)
    found = kept(change, matrix(1, 20), rows)
    np.testing.assert_array_equal(found[12:], change[12:])
    assert np.abs(found[:12] - change[:12]).max() > 0.1


def test_vectors_that_are_no_longer_finite_end_no_training() -> None:
    start = matrix(1)
    start[3] = np.nan
    assert np.isfinite(kept(matrix(3), start, hot_rows(16))[OUTPUTS]).all()


def staged(concurrent_blocks: int, skip_gram: bool = True) -> Any:
    """Return a block as a worker has it, its rows all on one server."""
    maker = replace(maker_from(0), skip_gram=skip_gram)
    settings = replace(SETTINGS, skip_gram=skip_gram)
    model = WorkerModel(settings, maker, WORDS, 0, np.ones(1, np.float32))
    return stage(model, Assignment(0, 1, concurrent_blocks, NOT_SHARED, work_on(0, rate=RATE)), np.zeros(0))


def test_a_block_alone_has_no_hot_rows() -> None:
    rows = staged(1).extra.hot
    assert rows.counts.tolist() == [0, 0, 0] and not len(rows.rows)
    change = matrix(3)
    np.testing.assert_array_equal(kept(change, matrix(1), rows), change)


def test_a_block_of_cbow_without_targets_is_scaled_as_one_with_one_context() -> None:
    maker = replace(maker_from(0), skip_gram=False)
    prepared = prepare(maker, work_on(0))
    assert prepared is not None
    nothing = np.zeros_like(prepared.block.left)
    block = replace(prepared.block, left=nothing, right=nothing)
    assert moment_weights(block, replace(SETTINGS, skip_gram=False)).tolist() == [1, 0]


@pytest.mark.parametrize("skip_gram", [True, False])
def test_all_pairs_of_a_block_are_divided_among_its_rows(skip_gram: bool) -> None:
    block = staged(16, skip_gram=skip_gram)
    rows = block.extra.hot
    inputs, outputs, _ = np.split(rows.strengths, np.cumsum(rows.counts)[:-1])
    trained = RATE * block.basics.pairs.sum() * (1 + SETTINGS.negative)
    reached = block.block.left + block.block.right
    contexts = 1 if skip_gram else reached.sum() / np.count_nonzero(reached)  # of a target, each of which it moves
    np.testing.assert_allclose(inputs.sum(), SLOPES[0] * trained * contexts, rtol=1e-5)
    np.testing.assert_allclose(outputs.sum(), SLOPES[1] * trained, rtol=1e-5)
    assert rows.rows.tolist() == list(range(len(block.extra.needed.numbers)))


def test_a_word_of_cbow_is_a_target_as_often_as_it_stands_in_the_runs() -> None:
    block = staged(16, skip_gram=False)
    rows, found = block.extra.hot, np.zeros(len(block.extra.needed.numbers))
    found[rows.rows] = rows.strengths
    expected = np.zeros(len(found))
    targets = block.block.targets
    pairs = block.basics.pairs.sum() * RATE * SLOPES[1]
    for row in targets.reshape(-1).tolist():
        expected[row] += pairs / targets.size
    for row in block.block.candidates.reshape(-1).tolist():
        expected[row] += SETTINGS.negative * pairs / block.block.candidates.size
    outputs = slice(rows.counts[0], None)
    np.testing.assert_allclose(found[outputs], expected[outputs], rtol=1e-5)


def test_of_many_rows_those_with_most_pairs_are_hot(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = staged(16).extra.hot
    monkeypatch.setattr(tuning, "MOST_HOT_ROWS", 3)
    monkeypatch.setattr(tuning, "HOT_ROWS_PER_TOKEN", 0)
    few = staged(16).extra.hot
    assert few.counts.tolist() == [3, 3, 0]
    before = np.split(everything.strengths, [everything.counts[0]])
    for found, every in zip(np.split(few.strengths, [3]), before, strict=True):
        np.testing.assert_array_equal(np.sort(found), np.sort(every)[-3:])


def test_more_rows_are_hot_if_more_tokens_are_in_flight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "MOST_HOT_ROWS", 3)
    monkeypatch.setattr(tuning, "HOT_ROWS_PER_TOKEN", 1 / 120)  # sixty in each block
    assert [staged(blocks).extra.hot.counts.tolist() for blocks in (2, 10)] == [[3, 3, 0], [5, 5, 0]]


def test_rows_below_the_limit_are_all_hot_though_some_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = staged(16).extra.hot
    monkeypatch.setattr(tuning, "ALL_PROBE_ROWS", 2)
    found = staged(16).extra.hot
    np.testing.assert_array_equal(found.counts, everything.counts)
    np.testing.assert_array_equal(np.sort(found.rows), np.sort(everything.rows))


def test_shared_rows_are_scaled_as_other_hot_rows_are() -> None:
    shared_rows = 3
    start, rows = matrix(1), hot_rows(16)
    places = np.r_[0:shared_rows, 7 : 7 + shared_rows]
    shared = updates_of(rows, RowSharing(shared_rows))
    vectors = tf.gather(start, shared.probe_rows)
    of_shared = matrix(4)[places]
    part = np.asarray(shared.of_shared(tf.constant(of_shared), vectors))
    np.testing.assert_allclose(part, kept(matrix(4), start, rows)[places], atol=1e-5)


@pytest.mark.parametrize(("grown", "is_notable"), [(1.009, False), (1.02, True), (0.98, True)])
def test_directions_serve_another_block_until_the_mean_square_has_changed(grown: float, is_notable: bool) -> None:
    """The vectors are also turned, which shows from which of them directions were computed."""
    rows, sharing = hot_rows(16), RowSharing(3)
    first, turned = matrix(1), matrix(1)[:, ::-1] * np.float32(grown)
    moves = tf.constant(matrix(4)[np.r_[0:3, 7:10]])

    def of_parts(*starts: np.ndarray) -> np.ndarray:
        shared = updates_of(rows, sharing)
        found = [shared.of_shared(moves, tf.gather(start, shared.probe_rows)) for start in starts]
        return np.asarray(found[-1])

    both, by_first, by_turned = of_parts(first, turned), of_parts(first), of_parts(turned)
    assert np.abs(by_first - by_turned).max() > 0.01
    np.testing.assert_allclose(both, by_turned if is_notable else by_first, atol=1e-6)


def test_of_hot_rows_those_with_most_pairs_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "ALL_PROBE_ROWS", 2)
    rows = staged(16).extra.hot
    for strengths in np.split(rows.strengths, [rows.counts[0]]):
        assert len(strengths) > 2
        assert strengths[:2].min() >= strengths[2:].max()


@pytest.mark.parametrize("skip_gram", [True, False])
def test_the_number_of_servers_changes_no_bit_of_the_strengths(skip_gram: bool) -> None:
    tree = build_huffman_tree(np.arange(1, WORDS + 1), np.arange(WORDS))
    shape = BatchShape(15, 3, 1)  # sizes that are no power of two, so that sums are rounded
    maker = BlockMaker(skip_gram, 2, Windows.DRAWN, shape, None, None, tree)
    settings = replace(SETTINGS, skip_gram=skip_gram, run_tokens=3, negative=0, hierarchical_softmax=True)
    model = WorkerModel(settings, maker, WORDS, WORDS - 1, np.ones(1, np.float32))
    for seed in range(10):  # some sums are the same in another order
        ids = np.random.default_rng(seed).integers(0, WORDS, 60).astype(np.int32)
        task = replace(work_on(0, rate=RATE), content=Sentences(ids, np.full(6, 10, np.int32)))
        one, *others = (stage(model, Assignment(0, shards, 16, NOT_SHARED, task), np.zeros(0)) for shards in (1, 2, 3))
        assert one.extra.hot.counts[2] > 30  # nodes
        for other in others:
            np.testing.assert_array_equal(other.extra.hot.strengths, one.extra.hot.strengths)


@pytest.mark.parametrize("skip_gram", [True, False])
def test_nodes_are_trained_by_the_pairs_that_pass_them(skip_gram: bool) -> None:
    model = model_of(MIXED)
    tree = HuffmanTree.of(model.wv)
    maker = BlockMaker(skip_gram, 2, Windows.DRAWN, BatchShape(16, 4, 1), None, None, tree)
    prepared = prepare(maker, work_on(0))
    assert prepared is not None
    block = prepared.block
    batches, runs, run_tokens = block.left.shape
    words = [int(word) for word in work_on(0).content.ids]
    # All places of the widened runs are taken to be predicted by as many pairs.
    places = [
        words[min(max(first + place, 0), len(words) - 1)]
        for first in range(0, batches * runs * run_tokens, run_tokens)
        for place in range(-2, run_tokens + 2)
    ]
    passes, partners = np.zeros(WORDS), 0.0
    for word in places:
        path = gensim_path(model, word)
        partners += len(path) / len(places)
        for node, _ in path:
            passes[node] += block.pairs.sum() / len(places)
    settings = replace(SETTINGS, skip_gram=skip_gram, negative=0, hierarchical_softmax=True)
    ids = np.arange(WORDS, dtype=np.int32)
    rows = hot_rows_of(block, [ids] * 3, settings, RATE, 16)
    assert rows.counts[1] == 0
    inputs, found = np.zeros((2, WORDS))
    nodes = slice(rows.counts[0], None)
    found[rows.rows[nodes]] = rows.strengths[nodes] / (RATE * SLOPES[2])
    np.testing.assert_allclose(found, passes, rtol=1e-5)
    own = slice(rows.counts[0])
    inputs[rows.rows[own]] = rows.strengths[own] / (RATE * TREE_INPUT_SLOPE)
    times = np.bincount(block.input_ids.reshape(-1), minlength=WORDS) / block.input_ids.size
    reached = block.left + block.right
    contexts = 1 if skip_gram else reached.sum() / np.count_nonzero(reached)
    np.testing.assert_allclose(inputs, block.pairs.sum() * contexts * partners * times, rtol=1e-5)
