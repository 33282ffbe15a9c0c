"""What is sent between the tasks of a cluster arrives unchanged."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest
from support.contract import SENTENCES
from support.example_blocks import SETTINGS, WORDS, maker_from, work_on
from support.example_trees import model_of

from gensim_tfw2v import TFWord2Vec, tuning
from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.batches import BatchShape, BlockMaker, Windows
from gensim_tfw2v.blocks.chunk_task import ChunkTask, prepare
from gensim_tfw2v.blocks.huffman import HuffmanTree
from gensim_tfw2v.blocks.sampling import NegativeSampler
from gensim_tfw2v.cluster.errors import TaskError
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shards import ShardReader, Span
from gensim_tfw2v.model.choices import block_maker, choices_for
from gensim_tfw2v.model.training_plan import placement_for
from gensim_tfw2v.placement.block_size import choose_negative_pool
from gensim_tfw2v.placement.server_rows.staging import STAGED_BLOCK, stage
from gensim_tfw2v.placement.tasks.assignment import Assignment
from gensim_tfw2v.placement.tasks.block_factory import BlockFactory
from gensim_tfw2v.placement.tasks.codec import decode, encode, message
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.steps.row_sharing import NOT_SHARED, RowSharing
from gensim_tfw2v.steps.settings import StepSettings

NONE = np.zeros(0, np.int32)
MODES = [  # skip-gram or CBOW, with negatives, with the tree
    (True, True, False),
    (True, False, True),
    (True, True, True),
    (False, True, False),
    (False, False, True),
    (False, True, True),
]


def fields_of(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass or NamedTuple by name, none of other values."""
    names = [field.name for field in fields(value)] if is_dataclass(value) else getattr(value, "_fields", ())
    return {name: getattr(value, name) for name in names}


def assert_same_fields(found: Any, expected: Any) -> None:
    """Compare two objects field by field, with the types of all values."""
    assert type(found) is type(expected)
    if isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    elif inner := fields_of(expected):
        for name, value in inner.items():
            assert_same_fields(getattr(found, name), value)
    else:
        assert found == expected


FULL_MAKER = BlockMaker(
    skip_gram=False,
    window=7,
    windows=Windows.MEAN,
    shape=BatchShape(64, 8, 24),
    keep=np.linspace(0.1, 1, WORDS, dtype=np.float32),
    negatives=NegativeSampler(np.arange(1, WORDS + 1, dtype=np.uint32)),
    tree=HuffmanTree.of(model_of(list(range(WORDS, 0, -1))).wv),
    negative_pool=9000,
    reader=ShardReader("/the/folder", "fingerprint", True, np.arange(WORDS, dtype=np.int32)[::-1]),
)


@pytest.mark.parametrize(
    "maker",
    [FULL_MAKER, replace(FULL_MAKER, keep=None, negatives=None, tree=None, negative_pool=None, reader=None)],
    ids=["all parts", "no optional part"],
)
def test_every_field_of_a_model_is_read_as_it_was_written(maker: BlockMaker) -> None:
    settings = replace(SETTINGS, max_step=1 / 3, max_step_rates=20.0, compute_dtype="bfloat16", mean_windows=True)
    sent = WorkerModel(settings, maker, WORDS, WORDS - 1, np.linspace(0, 1, 5, dtype=np.float32))
    assert_same_fields(decode(WorkerModel, encode(sent)), sent)


def test_every_flipped_bit_of_a_message_is_refused_in_one_line() -> None:
    whole = encode(Assignment(7, 3, 16, RowSharing(512), ChunkTask(Span(1, 2, 3, 4, 5), (1, 2), 0.025, 0.0, True)))
    for bit in range(8 * len(whole)):
        flipped = whole.copy()
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(TaskError, match=r"^a message with a Assignment arrived damaged: [^\n]*$"):
            decode(Assignment, flipped)
    for size in range(len(whole)):
        with pytest.raises(TaskError):
            decode(Assignment, whole[:size])


@pytest.mark.parametrize(
    "head",
    [b"", b"5", b"[]", b"{}", b"[" * 100_000, b'{"WorkerModel": {}}', b'{"Assignment": {}}', b'{"Assignment": 5}'],
    ids=lambda head: head[:20].decode(),
)
def test_a_message_with_another_head_is_refused(head: bytes) -> None:
    with pytest.raises(TaskError, match="a message with a Assignment arrived damaged"):
        decode(Assignment, message(head, []))


@pytest.mark.parametrize("array", ['["|O8", 1]', '["<f4", -1]', '["<f4", 99]', '["<f4,<f4", 1]', "[5, 1]", "5"])
def test_an_array_that_a_message_cannot_hold_is_refused(array: str) -> None:
    head = f'{{"Sentences": {{"ids": {{"array": {array}}}, "lengths": {{"array": ["<i4", 0]}}}}}}'
    with pytest.raises(TaskError, match="a message with a Sentences arrived damaged"):
        decode(Sentences, message(head.encode(), [bytes(8)]))


@pytest.mark.parametrize(
    ("ids", "lengths", "why"),
    [
        ([0, WORDS], [2], f"ids from 0 to {WORDS}"),
        ([-1, 3], [2], "ids from -1 to 3"),
        ([1, 2], [3], "do not end where"),
        ([1, 2], [3, -1], "do not end where"),
    ],
)
def test_a_worker_refuses_sentences_that_do_not_fit_its_model(ids: list[int], lengths: list[int], why: str) -> None:
    sentences = Sentences(np.array(ids, np.int32), np.array(lengths, np.int32))
    task = replace(work_on(0), content=sentences)
    with pytest.raises(TaskError, match=why):
        stage(WorkerModel(SETTINGS, maker_from(0), WORDS, 0, np.ones(1)), Assignment(0, 1, 1, NOT_SHARED, task), NONE)


def test_a_worker_says_in_one_line_why_it_cannot_make_a_block() -> None:
    factory = BlockFactory()
    factory.register_model(b"model", encode(WorkerModel(SETTINGS, maker_from(0), WORDS, 0, np.ones(1, np.float32))))
    task = replace(work_on(0), entropy=(-1,))
    with pytest.raises(TaskError, match=r"^cannot make a block: ValueError: [^\n]*$"):
        factory.made(STAGED_BLOCK, b"model", encode(Assignment(0, 1, 1, NOT_SHARED, task)))


@dataclass(frozen=True)
class ExtendedSampler(NegativeSampler):
    """A sampler as a later version may have it."""

    exponents: tuple[float, ...] = ()
    table: Float32Array | None = None
    windows: Windows | None = None


@dataclass(frozen=True)
class ExtendedSettings(StepSettings):
    """Settings as a later version may have them."""

    sampler: ExtendedSampler | None = None
    span: Span | None = None
    name: str = ""


def test_fields_that_a_class_gains_are_sent_as_well() -> None:
    sampler = ExtendedSampler(np.arange(3, dtype=np.uint32), (0.5, 0.75), np.ones((2, 3), np.float32), Windows.DRAWN)
    sent = ExtendedSettings(**vars(SETTINGS), sampler=sampler, span=Span(1, 2, 3, 4, 5), name="später")
    assert_same_fields(decode(ExtendedSettings, encode(sent)), sent)
    assert_same_fields(decode(ExtendedSettings, encode(replace(sent, sampler=None, span=None))).sampler, None)


@pytest.mark.parametrize("value", [[1, 2], (Span(1, 2, 3, 4, 5),), {"a": 1}], ids=repr)
def test_a_value_that_cannot_be_sent_is_named(value: Any) -> None:
    with pytest.raises(TypeError, match=re.escape(f"cannot encode {value!r}")):
        encode(replace(SETTINGS, window=value))


def test_an_assignment_takes_few_bytes_beside_its_words() -> None:
    words = 10_000
    sentences = Sentences(np.arange(words, dtype=np.int32), np.full(words // 10, 10, np.int32))
    seeds = (2**63 - 1,) * 7
    sent = encode(Assignment(2**31 - 1, 16, 32, RowSharing(512), ChunkTask(sentences, seeds, 0.025, 1 / 3, True)))
    assert sent.nbytes - sentences.nbytes < 1000


@pytest.mark.parametrize(
    "task",
    [
        work_on(3, seed=2**40, rate=0.1, last_rate=1 / 3, exact_loss=False),
        ChunkTask(Span(1, 2**40, 2**41, 5, 6), (1, 2**63 - 1), 0.025, 0.0, True),
    ],
    ids=["ids", "span of an encoded corpus"],
)
def test_an_assignment_is_read_as_it_was_written(task: ChunkTask) -> None:
    sent = Assignment(7, 3, 16, RowSharing(512), task)
    assert_same_fields(decode(Assignment, encode(sent)), sent)


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
    choice = placement_for(model, None, total_words)
    choices = choices_for(model, choice, 150, total_words)
    assert type(choice.block_words) is int
    maker = replace(block_maker(model, choices), negative_pool=choose_negative_pool(choice.block_words))
    sent = WorkerModel(choices.settings, maker, len(model.wv), 0, np.ones(1))
    arrived = decode(WorkerModel, encode(sent))
    assert (arrived.settings, arrived.maker.shape) == (sent.settings, sent.maker.shape)


@pytest.mark.parametrize("cores", [1, 2])
@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize(("skip_gram", "sampling", "tree"), MODES)
def test_a_block_finds_each_of_its_rows_in_what_the_shards_send(
    skip_gram: bool, sampling: bool, tree: bool, shards: int, cores: int
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
    staged = stage(worker, Assignment(5, shards, 1, NOT_SHARED, work_on(2), cores=cores), np.zeros(0))
    assert staged.basics.lease_key == 5
    tables = [np.arange(WORDS) + first for first in (1000, 2000, 3000)]  # rows of one number each
    matrix = sent_by_shards(staged.extra.needed, tables, shards)
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
        np.testing.assert_array_equal(matrix[staged.block.tree.nodes], tables[2][block.tree.nodes])
        for name in ("words", "codes", "offsets"):
            np.testing.assert_array_equal(getattr(staged.block.tree, name), getattr(block.tree, name))
    outputs = [block.candidate_ids, block.target_ids]
    nodes = [None if block.tree is None else block.tree.nodes]
    wanted = [
        {number for ids in of_table if ids is not None for number in ids.reshape(-1).tolist()}
        for of_table in ([block.input_ids], outputs, nodes)
    ]
    assert len(matrix) == sum(map(len, wanted))
    np.testing.assert_array_equal(staged.basics.rates.lock_factors[staged.block.inputs], locks[block.input_ids % 5])


@pytest.mark.parametrize("cores", [1, 2])
@pytest.mark.parametrize("shards", [1, 3])
def test_hot_rows_are_read_again_shard_by_shard(shards: int, cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "MOST_HOT_ROWS", 6)  # of each table, those that are trained most come first
    monkeypatch.setattr(tuning, "HOT_ROWS_PER_TOKEN", 0)
    tree = HuffmanTree.of(model_of(list(range(1, WORDS + 1))).wv)
    settings = replace(SETTINGS, hierarchical_softmax=True)
    worker = WorkerModel(settings, replace(maker_from(0), tree=tree), WORDS, WORDS - 1, np.ones(1, np.float32))
    extra = stage(worker, Assignment(0, shards, 16, NOT_SHARED, work_on(20), cores=cores), np.zeros(0)).extra
    tables = [np.arange(size) + first for size, first in ((WORDS, 1000), (WORDS, 2000), (WORDS - 1, 3000))]
    hot = sent_by_shards(extra.needed, tables, shards)[extra.hot.rows]
    assert len(hot) == 18 and (hot[:-1] > hot[1:]).any()
    again = sent_by_shards(extra.hot_by_shard, tables, shards)
    np.testing.assert_array_equal(again[extra.hot_order], hot)


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
