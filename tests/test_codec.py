"""What goes between the tasks of a cluster arrives as what was sent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from contract import SENTENCES
from test_huffman_tree import model_of
from test_placement import SETTINGS, WORDS, maker_from, work_on

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.blocks.chunk_task import ChunkTask, prepare
from gensim_tfw2v.blocks.huffman import HuffmanTree
from gensim_tfw2v.corpus.shards import Span
from gensim_tfw2v.model.training_plan import TrainingPlan
from gensim_tfw2v.placement.block_size import choose_negative_pool
from gensim_tfw2v.placement.parameter_servers.codec import Assignment, WorkerModel, stage
from gensim_tfw2v.placement.parameter_servers.shared_rows import NOT_SHARED, RowSharing

NONE = np.zeros(0, np.int32)
MODES = [  # skip-gram or CBOW, with negatives, with the tree
    (True, True, False),
    (True, False, True),
    (True, True, True),
    (False, True, False),
    (False, False, True),
    (False, True, True),
]


@pytest.mark.parametrize(
    "task",
    [
        work_on(3, seed=2**40, rate=0.1, last_rate=1 / 3, exact_loss=False),
        ChunkTask(Span(1, 2**40, 2**41, 5, 6), (1, 2**63 - 1), 0.025, 0.0, True),
    ],
    ids=["ids", "span of an encoded corpus"],
)
def test_an_assignment_is_read_as_it_was_written(task: ChunkTask) -> None:
    found = Assignment.from_array(Assignment(7, 3, 16, RowSharing(4, 512), task).to_array())
    assert found[:4] == (7, 3, 16, RowSharing(4, 512))
    if isinstance(task.content, Span):
        assert found.task.content == task.content
    else:
        np.testing.assert_array_equal(found.task.content.ids, task.content.ids)
        np.testing.assert_array_equal(found.task.content.lengths, task.content.lengths)
    for name in ("entropy", "first_rate", "last_rate", "exact_loss"):
        assert getattr(found.task, name) == getattr(task, name), name


@pytest.mark.parametrize(
    "settings",
    [
        {"batch_tokens": np.int64(64), "run_tokens": np.int32(8), "shared_negatives": np.int64(8)},
        {"update_bound": np.float32(10), "alpha": np.float32(0.05)},
        {"batch_words": 60_000.0},
        {"window": np.int64(3), "negative": np.int32(4), "shrink_windows": np.bool_(False)},
    ],
    ids=lambda settings: " ".join(settings),
)
def test_a_model_with_numbers_of_other_types_goes_to_workers(settings: dict[str, Any]) -> None:
    model = TFWord2Vec(vector_size=8, min_count=1, workers=1)
    model.build_vocab(SENTENCES)
    vars(model).update(settings)
    total_words = np.int64(model.corpus_total_words)
    model.train(SENTENCES, total_examples=150, total_words=total_words, epochs=1, start_alpha=np.float32(0.02))
    plan = TrainingPlan(model, None, 150, total_words)
    assert type(plan.choice.block_words) is int
    maker = replace(plan.maker, negative_pool=choose_negative_pool(plan.choice.block_words))
    sent = WorkerModel(plan.settings, maker, len(model.wv), 0, np.ones(1))
    arrived = WorkerModel.from_bytes(sent.to_bytes())
    assert (arrived.settings, arrived.maker.shape) == (sent.settings, sent.maker.shape)


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize(("skip_gram", "sampling", "tree"), MODES)
def test_a_block_finds_each_of_its_rows_in_what_the_shards_send(
    skip_gram: bool, sampling: bool, tree: bool, shards: int
) -> None:
    maker = replace(maker_from(0), skip_gram=skip_gram)
    if not sampling:
        maker = replace(maker, negatives=None)
    if tree:
        maker = replace(maker, tree=HuffmanTree.of(model_of(list(range(WORDS, 0, -1))).wv))
    settings = replace(
        SETTINGS, skip_gram=skip_gram, hierarchical_softmax=tree, negative=SETTINGS.negative if sampling else 0
    )
    prepared = prepare(maker, work_on(2))
    assert prepared is not None
    locks = np.linspace(0, 1, 5, dtype=np.float32)  # of word w: locks[w % 5]
    worker = WorkerModel(settings, maker, WORDS, WORDS - 1 if tree else 0, locks)
    staged = stage(worker, prepared, shards, 1, NOT_SHARED, np.zeros(0))
    tables = [np.arange(WORDS) + first for first in (1000, 2000, 3000)]  # rows of one number each
    matrix = sent_by_shards(staged.rows, tables, shards)
    block = prepared.block
    np.testing.assert_array_equal(matrix[staged.block.inputs], tables[0][block.input_ids])
    assert (block.candidate_ids is not None) == sampling
    if block.candidate_ids is not None:
        np.testing.assert_array_equal(matrix[staged.block.candidates], tables[1][block.candidate_ids])
    assert (block.target_ids is not None) == (sampling and not skip_gram)
    if block.target_ids is not None:
        np.testing.assert_array_equal(matrix[staged.block.targets], tables[1][block.target_ids])
    if block.tree is None:
        assert not any(map(len, staged.block.tree))
    else:
        np.testing.assert_array_equal(matrix[staged.block.tree.rows], tables[2][block.tree.rows])
        for name in ("words", "codes", "offsets"):
            np.testing.assert_array_equal(getattr(staged.block.tree, name), getattr(block.tree, name))
    outputs = [block.candidate_ids, block.target_ids]
    nodes = [None if block.tree is None else block.tree.rows]
    wanted = [
        {number for ids in of_table if ids is not None for number in ids.reshape(-1).tolist()}
        for of_table in ([block.input_ids], outputs, nodes)
    ]
    assert len(matrix) == sum(map(len, wanted))
    np.testing.assert_array_equal(staged.rates.lock_factors[staged.block.inputs], locks[block.input_ids % 5])


@pytest.mark.parametrize("shards", [1, 3])
def test_common_rows_are_sent_shard_by_shard_in_the_order_of_each_table(shards: int) -> None:
    tree = HuffmanTree.of(model_of(list(range(1, WORDS + 1))).wv)
    maker = replace(maker_from(0), tree=tree)
    settings = replace(SETTINGS, hierarchical_softmax=True)
    sizes = {"inputs": WORDS, "outputs": WORDS, "nodes": WORDS - 1}
    sharing = RowSharing(parts=2, rows=6)
    prepared = prepare(maker, work_on(20))  # which are not common
    worker = WorkerModel(settings, maker, WORDS, sizes["nodes"], np.ones(1, np.float32))
    staged = stage(worker, prepared, shards, 16, sharing, np.zeros(0))
    tables = [np.arange(size) + first for size, first in zip(sizes.values(), (1000, 2000, 3000), strict=True)]
    matrix = sent_by_shards(staged.rows, tables, shards)
    of_tables = np.split(staged.hot_rows.rows, np.cumsum(staged.hot_rows.counts)[:-1])
    common = matrix[np.concatenate([rows[: sharing.rows] for rows in of_tables])]
    first_nodes = tables[2][-sharing.rows :]
    np.testing.assert_array_equal(common, [*tables[0][:6], *tables[1][:6], *first_nodes])
    sent = common[staged.shared_order].reshape(shards, len(tables), -1)
    for shard in range(shards):
        for table, rows in zip(tables, sent[shard], strict=True):
            own = table[shard::shards]
            expected = own[-len(rows) :] if table is tables[2] else own[: len(rows)]
            np.testing.assert_array_equal(rows, expected)


def sent_by_shards(rows: Any, tables: list[np.ndarray], shards: int) -> np.ndarray:
    """Return the rows that the shards send, shard by shard and table by table."""
    numbers = iter(rows.numbers.tolist())
    sent = [
        tables[table][shard::shards][next(numbers)]
        for shard in range(shards)
        for table in range(3)
        for _ in range(rows.counts[shard, table])
    ]
    assert not list(numbers)
    return np.array(sent)
