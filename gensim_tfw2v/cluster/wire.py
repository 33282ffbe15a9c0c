"""What goes between tasks: a model's settings as bytes, and a worker's block as arrays with rows numbered anew.

A worker trains on copies of the rows that its block touches. The rows of each table are numbered 0, 1, 2, ... in the
order in which the shards send them: all rows of shard 0, then of shard 1, and so on. Row r of a table is row r // S of
shard r % S, so that frequent words, which have the smallest ids, are spread over all servers.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from gensim_tfw2v.batches import BatchShape, BlockMaker
from gensim_tfw2v.graph_arguments import block_tensors, rates
from gensim_tfw2v.placement import StepSettings
from gensim_tfw2v.segments import Segments
from gensim_tfw2v.shards import ShardReader
from gensim_tfw2v.steps import SIGNATURE, BlockTensors, Rates
from gensim_tfw2v.tree import HuffmanTree, TreeRuns
from gensim_tfw2v.vocabulary import Float32Array, Int32Array, NegativeSampler
from gensim_tfw2v.work import PreparedBlock

# Whose bounds all blocks in flight together may move a row of inputs, outputs and nodes by.
BATCHES_A_PUSH = (3.0, 12.0, 3.0)


class TableRows(NamedTuple):
    """The rows of one table that a block touches; empty if it touches none."""

    rows: Any  # [U], within their shards
    counts: Any  # [S], how many of them each shard has


class StagedBlock(NamedTuple):
    """A block as its worker's graph takes it."""

    block: BlockTensors
    rates: Rates
    run_tokens: Any
    tables: tuple[TableRows, TableRows, TableRows]  # inputs, outputs, nodes
    push_bounds: Any  # [3], norm of what is added to a row of each of them at most
    pairs: Any  # [S]
    touched_rows: Any  # [S]
    tokens: Any
    figures: Any  # of the worker


_ROWS = TableRows(tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.int32))
STAGED_BLOCK = StagedBlock(
    block=SIGNATURE[1],
    rates=SIGNATURE[2],
    run_tokens=tf.TensorSpec([], tf.int32),
    tables=(_ROWS, _ROWS, _ROWS),
    push_bounds=tf.TensorSpec([3], tf.float32),
    pairs=tf.TensorSpec([None], tf.int64),
    touched_rows=tf.TensorSpec([None], tf.int64),
    tokens=tf.TensorSpec([], tf.int64),
    figures=tf.TensorSpec([None], tf.float64),
)


@dataclass(frozen=True)
class WorkerModel:
    """All that a worker has to know of a model to make its blocks."""

    settings: StepSettings
    maker: BlockMaker
    words: int
    nodes: int
    lock_factors: Float32Array

    def to_bytes(self) -> bytes:
        """Return the model in NumPy's npz format, without pickled objects."""
        maker = self.maker
        plain: dict[str, Any] = {
            "settings": asdict(self.settings),
            "maker": {"skip_gram": maker.skip_gram, "window": maker.window, "shrink_windows": maker.shrink_windows},
            "shape": asdict(maker.shape),
            "negative_pool": maker.negative_pool,
            "words": self.words,
            "nodes": self.nodes,
        }
        arrays: dict[str, Any] = {"lock_factors": self.lock_factors}
        if maker.keep is not None:
            arrays["keep"] = maker.keep
        if maker.negatives is not None:
            arrays["cumulative"] = maker.negatives.cumulative
        if maker.reader is not None:
            plain["reader"] = {"folder": maker.reader.folder, "fingerprint": maker.reader.fingerprint}
            arrays["word_ids"] = maker.reader.word_ids
        if maker.tree is not None:
            arrays |= {f"tree_{name}": value for name, value in vars(maker.tree).items()}
        arrays["plain"] = np.frombuffer(json.dumps(plain).encode(), np.uint8)
        file = io.BytesIO()
        np.savez(file, **arrays)
        return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> WorkerModel:
        """Return the model that `to_bytes` wrote down."""
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = dict(file)
        plain = json.loads(arrays["plain"].tobytes())
        tree = {name.removeprefix("tree_"): value for name, value in arrays.items() if name.startswith("tree_")}
        maker = BlockMaker(
            **plain["maker"],
            shape=BatchShape(**plain["shape"]),
            keep=arrays.get("keep"),
            negatives=NegativeSampler(arrays["cumulative"]) if "cumulative" in arrays else None,
            tree=HuffmanTree(**tree) if tree else None,
            negative_pool=plain["negative_pool"],
            reader=ShardReader(**plain["reader"], word_ids=arrays["word_ids"]) if "reader" in plain else None,
        )
        settings = StepSettings(**plain["settings"])
        return cls(settings, maker, plain["words"], plain["nodes"], arrays["lock_factors"])


def name_of(data: bytes) -> str:
    """Return a name that no other model's bytes have."""
    return hashlib.sha256(data).hexdigest()


def stage(model: WorkerModel, prepared: PreparedBlock | None, shards: int, rivals: int, figures: Any) -> StagedBlock:
    """Return the prepared block with rows numbered anew, or one without batches if there is nothing to train."""
    if prepared is None:
        return _empty(shards, figures)
    block = prepared.block
    inputs, block_inputs = _number(block.input_ids, model.words, shards)
    outputs, block_outputs = _number(block.candidate_ids, model.words, shards)
    nodes, block_nodes = _number(None if block.tree_runs is None else block.tree_runs.nodes, model.nodes, shards)
    own = replace(
        block,
        input_ids=inputs[block.input_ids],
        input_segments=_renumbered(block.input_segments, inputs),
        candidate_ids=None if block.candidate_ids is None else outputs[block.candidate_ids],
        candidate_segments=_renumbered(block.candidate_segments, outputs),
        tree_runs=None if block.tree_runs is None else _renumbered_runs(block.tree_runs, nodes),
    )
    locks = model.lock_factors
    if len(locks) > 1:
        locks = locks[_ids_of(block_inputs, shards) % len(locks)]
    return StagedBlock(
        block=block_tensors(own),
        rates=rates(model.settings, prepared, locks),
        run_tokens=np.int32(model.settings.run_tokens),
        tables=(block_inputs, block_outputs, block_nodes),
        push_bounds=push_bounds(model.settings, rivals),
        pairs=block.pairs,
        touched_rows=block.touched_rows(),
        tokens=np.int64(block.tokens),
        figures=figures,
    )


def _number(ids: Int32Array | None, rows: int, shards: int) -> tuple[Int32Array, TableRows]:
    """Return the new number of each row of a table, 0 for those not among `ids`, and the rows that are among them."""
    if ids is None:
        return np.zeros(0, np.int32), _no_rows(shards)
    is_used = np.zeros(rows, bool)
    is_used[ids.reshape(-1)] = True
    of_shards = [np.flatnonzero(is_used[shard::shards]).astype(np.int32) for shard in range(shards)]
    counts = np.array([len(of_shard) for of_shard in of_shards], np.int32)
    table_rows = TableRows(np.concatenate(of_shards), counts)
    found = _ids_of(table_rows, shards)
    numbers = np.zeros(rows, np.int32)
    numbers[found] = np.arange(len(found), dtype=np.int32)
    return numbers, table_rows


def push_bounds(settings: StepSettings, rivals: int, batches_a_push: Sequence[float] = BATCHES_A_PUSH) -> Float32Array:
    """Return by how much a block may move a row of each table, when `rivals` blocks are trained at a time, it included.

    They all start from about the same rows: what each finds right for a frequent word they all find, and the sum of it
    all would overshoot. So together they may move a row as far as a few batches of one process could. Rows of outputs
    need more room than those of inputs, which the scores of the vectors are about.
    """
    share = math.inf if rivals == 1 else settings.update_bound / rivals
    return np.array([batches * share for batches in batches_a_push], np.float32)


def _ids_of(table_rows: TableRows, shards: int) -> Int32Array:
    ids: Int32Array = table_rows.rows * np.int32(shards) + np.repeat(
        np.arange(shards, dtype=np.int32), table_rows.counts
    )
    return ids


def _renumbered(segments: Segments | None, numbers: Int32Array) -> Any:
    return None if segments is None else replace(segments, unique=numbers[segments.unique])


def _renumbered_runs(runs: TreeRuns, numbers: Int32Array) -> TreeRuns:
    return replace(runs, nodes=numbers[runs.nodes], node_segments=_renumbered(runs.node_segments, numbers))


def _no_rows(shards: int) -> TableRows:
    return TableRows(np.zeros(0, np.int32), np.zeros(shards, np.int32))


def _empty(shards: int, figures: Any) -> StagedBlock:
    """Return a block of no batches."""

    def nothing(spec: Any) -> Any:
        return np.zeros([0 if size is None else size for size in spec.shape], spec.dtype.as_numpy_dtype)

    empty = tf.nest.map_structure(nothing, STAGED_BLOCK)
    rates_of_nothing = empty.rates._replace(lock_factors=np.ones(1, np.float32), shared_negatives=np.int32(1))
    block: StagedBlock = empty._replace(
        rates=rates_of_nothing,
        run_tokens=np.int32(1),
        tables=(_no_rows(shards),) * 3,
        figures=figures,
    )
    return block
