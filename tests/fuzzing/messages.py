"""What tasks of a cluster send each other: settings, chunks, reports, names and descriptions."""

from __future__ import annotations

import copy
import json
import struct
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from support.example_blocks import SETTINGS, WORDS, maker_from, work_on
from support.example_trees import model_of

from fuzzing.target import Target, damaged, edits
from gensim_tfw2v.blocks.chunk_task import ChunkTask
from gensim_tfw2v.blocks.huffman import HuffmanTree
from gensim_tfw2v.cluster.errors import ClusterError, TaskError
from gensim_tfw2v.cluster.leases import is_ours, lease_name, owner_has_died
from gensim_tfw2v.cluster.task import Task, description_in, key_of
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.shards import Span
from gensim_tfw2v.placement.averaging.round_block import OWN_BLOCK
from gensim_tfw2v.placement.lbfgs.portion import pack, unpack
from gensim_tfw2v.placement.partition.draws import Draw
from gensim_tfw2v.placement.partition.share_block import SHARE_BLOCK, ShareAssignment
from gensim_tfw2v.placement.server_rows.staging import STAGED_BLOCK
from gensim_tfw2v.placement.tasks.assignment import Assignment
from gensim_tfw2v.placement.tasks.block_factory import BlockFactory
from gensim_tfw2v.placement.tasks.block_kind import BlockKind
from gensim_tfw2v.placement.tasks.block_report import BlockReport
from gensim_tfw2v.placement.tasks.codec import decode, encode, message
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.placement.tasks.plain_block import PLAIN_BLOCK
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.row_sharing import RowSharing

_MODEL = WorkerModel(
    replace(SETTINGS, hierarchical_softmax=True, weighted=True),
    replace(maker_from(0), tree=HuffmanTree.of(model_of(list(range(WORDS, 0, -1))).wv)),
    WORDS,
    WORDS - 1,
    np.ones(3, np.float32),
)
_SENT: dict[type[Any], Any] = {WorkerModel: _MODEL, Assignment: Assignment(7, 3, 2, RowSharing(6), work_on(3))}
_MESSAGES = {kind: encode(value).tobytes() for kind, value in _SENT.items()}


def check_damaged(example: tuple[type[Any], list[Any]]) -> None:
    """A message in which any byte has changed is refused by a TaskError of one line."""
    kind, changes = example
    data = damaged(_MESSAGES[kind], changes)
    try:
        decode(kind, np.frombuffer(data, np.uint8))
    except TaskError as error:
        assert "\n" not in str(error)
        assert data != _MESSAGES[kind]
    else:
        assert data == _MESSAGES[kind], "damage was not seen"


def check_forged(example: tuple[type[Any], list[tuple[int, Any]], list[Any], list[Any]]) -> None:
    """A changed message with a checksum that fits is refused by a TaskError, or is an object of its type."""
    kind, nodes, of_head, of_arrays = example
    whole = _MESSAGES[kind]
    (length,) = struct.unpack_from("<Q", whole)
    head, rest = json.loads(whole[16 : 16 + length]), whole[-(-(16 + length) // 64) * 64 :]
    for place, value in nodes:
        head = _with_node(head, place, copy.deepcopy(value))
    try:
        found = decode(kind, message(damaged(json.dumps(head).encode(), of_head), [damaged(rest, of_arrays)]))
        assert isinstance(found, kind)
    except TaskError as error:
        assert "\n" not in str(error)


def _with_node(tree: Any, place: int, value: Any) -> Any:
    """Return some JSON with another value at one of its nodes."""
    holders: list[tuple[Any, Any]] = [([tree], 0)]
    for holder, key in holders:  # which grows meanwhile
        node = holder[key]
        keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else []
        holders += [(node, key) for key in keys]
    root = holders[0][0]
    holder, key = holders[place % len(holders)]
    if isinstance(value, str) and isinstance(holder, dict):
        holder[value] = holder.pop(key)  # another name for the same
    else:
        holder[key] = value
    return root[0]


def block_of(kind: BlockKind[Any], assignment: Any) -> Any:
    """Return the arrays of an assignment's block, None if it is refused."""
    factory = BlockFactory()
    factory.register_model(b"model", encode(_MODEL))
    try:
        arrays = factory.made(kind, b"model", encode(assignment))
    except TaskError as error:
        assert "\n" not in str(error)
        return None
    return load_tensorflow().nest.pack_sequence_as(kind.specs, arrays)


def check_assignment(example: Assignment) -> None:
    """A worker refuses an assignment that does not fit its model by a TaskError, or its block has rows that exist."""
    block = block_of(STAGED_BLOCK, example)
    if block is None:
        return
    needed = block.extra.needed
    rows = len(needed.numbers)
    assert needed.counts.shape == (example.shards, 3)
    assert needed.counts.sum() == rows
    for places in (block.block.inputs, block.block.candidates, block.block.targets, block.block.tree.nodes):
        assert not places.size or 0 <= places.min() <= places.max() < rows
    first = np.array([WORDS, WORDS, WORDS - 1])
    at = 0
    for shard, counts in enumerate(needed.counts):
        for table_rows, count in zip(first, counts, strict=True):
            numbers = needed.numbers[at : at + count]
            assert not count or 0 <= numbers.min() <= numbers.max() < -(-(table_rows - shard) // example.shards)
            at += count


def check_own_block(example: Assignment) -> None:
    """A worker with tables of its own does the same, and rows of its block are within these tables."""
    block = block_of(OWN_BLOCK, example)
    if block is None:
        return
    of_words, of_tables = (WORDS, WORDS, WORDS - 1), block.block
    tables = (of_tables.inputs, of_tables.candidates, of_tables.tree.nodes)
    for rows, numbers in zip(of_words + of_words[:1], (*tables, of_tables.targets), strict=True):
        assert not numbers.size or 0 <= numbers.min() <= numbers.max() < rows
    for found in block.extra:
        assert found.counts.sum() == len(found.rows) == len(found.strengths)
        for rows, numbers in zip(of_words, np.split(found.rows, np.cumsum(found.counts)[:-1]), strict=True):
            assert not numbers.size or 0 <= numbers.min() <= numbers.max() < rows


def check_plain_block(example: Assignment) -> None:
    """A worker that trains as one process does does the same."""
    block = block_of(PLAIN_BLOCK, example)
    if block is None:
        return
    of_tables = block.block
    tables = (of_tables.inputs, of_tables.candidates, of_tables.targets, of_tables.tree.nodes)
    for rows, numbers in zip((WORDS, WORDS, WORDS, WORDS - 1), tables, strict=True):
        assert not numbers.size or 0 <= numbers.min() <= numbers.max() < rows


def check_share_block(example: tuple[Assignment, Draw | None]) -> None:
    """A worker with a sub-model does the same."""
    assignment, draw = example
    block = block_of(SHARE_BLOCK, ShareAssignment(**vars(assignment), draw=draw))
    if block is None:
        return
    of_tables = block.block
    tables = (of_tables.inputs, of_tables.candidates, of_tables.targets, block.extra, of_tables.tree.nodes)
    for rows, numbers in zip((WORDS, WORDS, WORDS, WORDS, WORDS - 1), tables, strict=True):
        assert not numbers.size or 0 <= numbers.min() <= numbers.max() < rows


def check_report(example: tuple[list[float], int]) -> None:
    """The numbers of a report are refused by a ValueError, or make a report that can be counted."""
    numbers, servers = example
    try:
        report = BlockReport.from_array(np.array(numbers, np.float64), servers)
    except ValueError as error:
        assert "a report" in str(error)
        return
    trained = report.trained()
    assert trained.tokens >= 0
    assert len(trained.pairs) == len(trained.measured) == len(trained.batches.losses)


def check_calls(example: list[tuple[str, Any, Any]]) -> None:
    """A task refuses names and tables that are none by a TaskError; it describes itself and its leases after that."""
    task = Task()
    expected = {}
    for function, name, tables in example:
        try:
            if function == "open":
                task.open_lease(name, tables)
                expected[name.decode()] = json.loads(tables)
            elif function == "end":
                task.end_lease(name)
                expected.pop(name.decode(), None)
            else:
                task.renew_lease(key_of(name.decode(errors="replace")))
        except TaskError as error:
            assert "\n" not in str(error)
    found = description_in(task.describe(), "ps 0")["runs"]
    assert {name: lease["tables"] for name, lease in found.items()} == expected


def check_lease(example: str) -> None:
    """A name that no lease can have belongs to nobody: its owner is not known to have ended."""
    if example != lease_name(0):
        assert not is_ours(example) or example.split("/")[-2] == lease_name(0).split("/")[-2]
        assert isinstance(owner_has_died(example), bool)


def check_description(example: bytes) -> None:
    """What is no description is refused by a ClusterError that names the task."""
    try:
        assert {"package", "tensorflow"} <= description_in(example, "worker 3").keys()
    except ClusterError as error:
        assert "worker 3" in str(error)


def check_portion(example: tuple[Any, tuple[int, ...], list[Any]]) -> None:
    """A request of a portion comes as it was sent; one in which any byte has changed is refused by a TaskError."""
    content, entropy, changes = example
    whole = pack(7, 2, ChunkTask(content, entropy, 1.0, 1.0, True)).tobytes()
    data = damaged(whole, changes)
    try:
        found = unpack(np.frombuffer(data, np.uint8))
    except TaskError as error:
        assert "\n" not in str(error)
        assert data != whole
        return
    assert data == whole, "damage was not seen"
    assert (found.lease_key, found.shards, found.task.entropy) == (7, 2, entropy)
    arrived = found.task.content
    if isinstance(content, Sentences):
        np.testing.assert_array_equal(content.ids, arrived.ids)
        np.testing.assert_array_equal(content.lengths, arrived.lengths)
    else:
        assert content == arrived


_numbers = st.one_of(st.integers(0, WORDS - 1), st.sampled_from([-1, -WORDS, WORDS, WORDS + 1, 2**31 - 1, -(2**31)]))
_ids = st.one_of(st.lists(st.integers(0, WORDS - 1), max_size=60), st.lists(_numbers, max_size=20))


@st.composite
def _sentences(draw: st.DrawFn) -> Sentences:
    ids = draw(_ids)
    cut = draw(st.integers(0, len(ids)))
    lengths = draw(st.one_of(st.just([cut, len(ids) - cut]), st.lists(_numbers, max_size=4)))
    weights = draw(st.none() | st.lists(st.floats(width=32), min_size=len(lengths), max_size=len(lengths) + 1))
    return Sentences(
        np.array(ids, np.int32),
        np.array(lengths, np.int32),
        None if weights is None else np.array(weights, draw(st.sampled_from([np.float32, np.float64]))),
    )


_seeds = st.lists(st.integers(0, 2**63 - 1), max_size=4).map(tuple)
_assignments = st.builds(
    Assignment,
    lease_key=st.integers(-(2**31), 2**31 - 1),
    shards=st.integers(-1, 5),
    concurrent_blocks=st.integers(1, 20),
    sharing=st.builds(RowSharing, st.one_of(st.sampled_from([0, 6]), st.integers(-1, WORDS + 1))),
    task=st.builds(
        ChunkTask,
        content=st.one_of(_sentences(), _sentences(), st.builds(Span, *[_numbers] * 5)),
        entropy=_seeds,
        first_rate=st.floats(0, 1),
        last_rate=st.floats(0, 1),
        exact_loss=st.booleans(),
    ),
)
_counts = st.one_of(st.floats(), st.integers(-2, 2**40).map(float))
_names = st.one_of(st.binary(max_size=20), st.text(max_size=20).map(str.encode), st.just(lease_name(0).encode()))
_json = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=6,
)
_bytes_of_json = st.one_of(_json.map(json.dumps).map(str.encode), st.binary(max_size=20), st.just(b"[" * 100_000))
_fields = st.one_of(st.text(max_size=12), st.sampled_from(lease_name(0).split("/")), st.integers().map(str))

DAMAGED = Target(st.tuples(st.sampled_from(list(_SENT)), edits), check_damaged)
_awkward = st.sampled_from(
    [
        {"array": ["<f4", 3]},
        {"array": ["|O8", 1]},
        {"array": 5},
        {"array": ["<i4", -1]},
        {"Span": {}},
        {"Span": 5},
        "array",
    ]
)
FORGED = Target(
    st.tuples(
        st.sampled_from(list(_SENT)),
        st.lists(st.tuples(st.integers(0, 500), st.one_of(_json, _awkward)), max_size=3),
        st.one_of(st.just([]), edits),
        st.one_of(st.just([]), edits),
    ),
    check_forged,
)
ASSIGNMENTS = Target(_assignments, check_assignment)
OWN_BLOCKS = Target(_assignments, check_own_block)
PLAIN_BLOCKS = Target(_assignments, check_plain_block)
_draws = st.builds(
    Draw, st.sampled_from(["equal", "random", "shuffle", ""]), st.floats(0, 1), st.integers(-1, 3), st.integers(-1, 3)
)
SHARE_BLOCKS = Target(st.tuples(_assignments, st.one_of(st.none(), _draws)), check_share_block)
PORTIONS = Target(
    st.tuples(st.one_of(_sentences(), st.builds(Span, *[_numbers] * 5)), _seeds, st.one_of(st.just([]), edits)),
    check_portion,
)
REPORTS = Target(st.tuples(st.lists(_counts, max_size=60), st.integers(1, 3)), check_report)
CALLS = Target(
    st.lists(
        st.tuples(
            st.sampled_from(["open", "open", "end", "renew"]),
            _names,
            st.one_of(_bytes_of_json, st.lists(st.text(max_size=9), max_size=3).map(json.dumps).map(str.encode)),
        ),
        max_size=8,
    ),
    check_calls,
)
LEASES = Target(
    st.one_of(st.text(max_size=40), st.lists(_fields, max_size=7).map("/".join), st.just(lease_name(0))), check_lease
)
DESCRIPTIONS = Target(
    st.one_of(
        _bytes_of_json,
        st.builds(damaged, st.just(json.dumps({"package": "0.2.0", "tensorflow": "2.16", "runs": {}}).encode()), edits),
    ),
    check_description,
)
