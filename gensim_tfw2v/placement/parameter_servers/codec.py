"""What goes between tasks: a model's settings as bytes, and a worker's block as arrays with rows numbered anew.

A worker trains on copies of the rows that its block touches, all in one matrix, in the order in which the shards send
them: from shard 0 rows of inputs, then of outputs, then of nodes, from shard 1 likewise, and so on. Row r of a table is
row r // S of shard r % S, so that frequent words, which have the smallest ids, are spread over all servers.

Every message costs both of its ends processor time, so that whatever has the same way goes as one.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from gensim_tfw2v.arrays import Float32Array, Int32Array
from gensim_tfw2v.blocks.batches import BatchShape, BlockMaker, Windows
from gensim_tfw2v.blocks.chunk_task import ChunkTask, PreparedBlock
from gensim_tfw2v.blocks.huffman import HuffmanTree
from gensim_tfw2v.blocks.sampling import NegativeSampler
from gensim_tfw2v.corpus.sentences import NO_SENTENCES, Sentences
from gensim_tfw2v.corpus.shards import ShardReader, Span
from gensim_tfw2v.placement.parameter_servers.concurrent_updates import HOT_ROWS, HotRows, hot_rows_of
from gensim_tfw2v.placement.parameter_servers.shared_rows import RowSharing
from gensim_tfw2v.steps.arguments import block_tensors, rates
from gensim_tfw2v.steps.graph import SIGNATURE, BlockTensors, Rates
from gensim_tfw2v.steps.settings import StepSettings

_HEAD = 9  # numbers at the beginning of an assignment


class BlockRows(NamedTuple):
    """The rows that a block touches, in the order of the worker's matrix."""

    numbers: Any  # [U], within their shards
    counts: Any  # [S, 3], how many each shard has of inputs, outputs, nodes


class StagedBlock(NamedTuple):
    """A block as its worker's graph takes it."""

    block: BlockTensors
    rates: Rates
    run_tokens: Any
    rows: BlockRows
    hot_rows: HotRows
    shared_order: Any  # [T * H], the common rows by shard, as places among those by table
    pairs: Any  # [S]
    tokens: Any
    figures: Any  # of the worker


STAGED_BLOCK = StagedBlock(
    block=SIGNATURE[1],
    rates=SIGNATURE[2],
    run_tokens=tf.TensorSpec([], tf.int32),
    rows=BlockRows(tf.TensorSpec([None], tf.int32), tf.TensorSpec([None, 3], tf.int32)),
    hot_rows=HOT_ROWS,
    shared_order=tf.TensorSpec([None], tf.int32),
    pairs=tf.TensorSpec([None], tf.float64),
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
            "maker": {"skip_gram": maker.skip_gram, "window": maker.window},
            "windows": maker.windows.value,
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
            windows=Windows(plain["windows"]),
            shape=BatchShape(**plain["shape"]),
            keep=arrays.get("keep"),
            negatives=NegativeSampler(arrays["cumulative"]) if "cumulative" in arrays else None,
            tree=HuffmanTree(**tree) if tree else None,
            negative_pool=plain["negative_pool"],
            reader=ShardReader(**plain["reader"], word_ids=arrays["word_ids"]) if "reader" in plain else None,
        )
        settings = StepSettings(**plain["settings"])
        return cls(settings, maker, plain["words"], plain["nodes"], arrays["lock_factors"])


class Assignment(NamedTuple):
    """A chunk with what a worker has to know besides its model."""

    run: int  # whose tables it is for
    shards: int
    concurrent_blocks: int
    sharing: RowSharing
    task: ChunkTask

    def to_array(self) -> Int32Array:
        """Return all of it as one array, the run first."""
        task, content = self.task, self.task.content
        span = np.array(content if isinstance(content, Span) else (), np.int64)
        sentences = content if isinstance(content, Sentences) else NO_SENTENCES
        entropy = np.array(task.entropy, np.int64)
        sizes = [len(span), len(entropy), len(sentences.lengths)]
        sharing = [self.sharing.parts, self.sharing.rows]
        head = [self.run, self.shards, self.concurrent_blocks, *sharing, task.exact_loss, *sizes]
        rates = np.array([task.first_rate, task.last_rate])
        wide = [numbers.view(np.int32) for numbers in (rates, span, entropy)]
        parts = [np.array(head, np.int32), *wide, sentences.lengths, sentences.ids]
        return np.concatenate(parts, dtype=np.int32)

    @classmethod
    def from_array(cls, numbers: Int32Array) -> Assignment:
        """Return what `to_array` wrote down."""
        run, shards, concurrent, parts, common, exact_loss, spans, entropies, sentences = numbers[:_HEAD].tolist()
        sizes = [_HEAD, 2 * 2, 2 * spans, 2 * entropies, sentences]
        _, rates, span, entropy, lengths, ids = np.split(numbers, np.cumsum(sizes))
        first_rate, last_rate = rates.view(np.float64).tolist()
        task = ChunkTask(
            content=Span(*span.view(np.int64).tolist()) if spans else Sentences(ids, lengths),
            entropy=tuple(entropy.view(np.int64).tolist()),
            first_rate=first_rate,
            last_rate=last_rate,
            exact_loss=bool(exact_loss),
        )
        return cls(run, shards, concurrent, RowSharing(parts, common), task)


def name_of(data: bytes) -> str:
    """Return a name that no other model's bytes have."""
    return hashlib.sha256(data).hexdigest()


def stage(
    model: WorkerModel,
    prepared: PreparedBlock | None,
    shards: int,
    concurrent_blocks: int,
    sharing: RowSharing,
    figures: Any,
) -> StagedBlock:
    """Return the prepared block with rows numbered anew, or one without batches if there is nothing to train."""
    if prepared is None:
        return _empty(shards, figures)
    block = prepared.block
    outputs_wanted = [ids for ids in (block.candidate_ids, block.target_ids) if ids is not None]
    tables = [
        _Wanted([block.input_ids], model.words, sharing.ids(model.words, are_nodes=False)),
        _Wanted(outputs_wanted, model.words, sharing.ids(model.words, are_nodes=False)),
        _Wanted([block.tree.rows] if block.tree else [], model.nodes, sharing.ids(model.nodes, are_nodes=True)),
    ]
    (inputs, outputs, nodes), rows = _number(tables, shards)
    own = replace(
        block,
        input_ids=inputs[block.input_ids],
        candidate_ids=None if block.candidate_ids is None else outputs[block.candidate_ids],
        target_ids=None if block.target_ids is None else outputs[block.target_ids],
        tree=None if block.tree is None else replace(block.tree, rows=nodes[block.tree.rows]),
    )
    locks = model.lock_factors
    if len(locks) > 1:
        words = np.unique(block.input_ids)
        locks = np.ones(len(rows.numbers), np.float32)
        locks[inputs[words]] = model.lock_factors[words % len(model.lock_factors)]
    rate = float(prepared.learning_rates.mean())
    common = [
        place[table.common] if table.is_used() else np.zeros(0, np.int32)
        for place, table in zip((inputs, outputs, nodes), tables, strict=True)
    ]
    return StagedBlock(
        block=block_tensors(own),
        rates=rates(model.settings, prepared, locks, hot_nodes=0),  # nobody else is at them
        run_tokens=np.int32(model.settings.run_tokens),
        rows=rows,
        hot_rows=hot_rows_of(own, len(rows.numbers), model.settings, rate, concurrent_blocks, common),
        shared_order=np.argsort(np.concatenate(common)).astype(np.int32),  # the matrix is in the shards' order
        pairs=block.pairs,
        tokens=np.int64(block.tokens),
        figures=figures,
    )


class _Wanted(NamedTuple):
    """What a block wants of a table."""

    ids: Sequence[Int32Array]  # none if it does not use the table
    size: int
    common: Int32Array  # ids of rows that it wants whether it trains them or not

    def is_used(self) -> bool:
        """Return whether it wants anything."""
        return bool(self.ids)

    def in_shards(self, shards: int) -> list[Int32Array]:
        """Return the distinct ids as numbers within their shards, for each shard."""
        if not self.ids:
            return [np.zeros(0, np.int32)] * shards
        is_wanted = np.zeros(self.size, bool)
        for ids in self.ids:
            is_wanted[ids] = True
        is_wanted[self.common] = True
        return [np.flatnonzero(is_wanted[shard::shards]).astype(np.int32) for shard in range(shards)]


def _number(tables: Sequence[_Wanted], shards: int) -> tuple[list[Int32Array], BlockRows]:
    """Return for each table where its rows are in the worker's matrix, 0 for those not wanted, and what is in that."""
    wanted = [table.in_shards(shards) for table in tables]
    counts = np.array([[len(of_shards[shard]) for of_shards in wanted] for shard in range(shards)], np.int32)
    starts = (np.cumsum(counts) - counts.reshape(-1)).reshape(counts.shape)
    places = []
    for number, (of_shards, table) in enumerate(zip(wanted, tables, strict=True)):
        place = np.zeros(table.size, np.int32)
        for shard, numbers in enumerate(of_shards):
            first = starts[shard, number]
            place[shard::shards][numbers] = np.arange(first, first + len(numbers), dtype=np.int32)
        places.append(place)
    numbers = np.concatenate([of_shards[shard] for shard in range(shards) for of_shards in wanted])
    return places, BlockRows(numbers, counts)


def _empty(shards: int, figures: Any) -> StagedBlock:
    """Return a block of no batches."""

    def nothing(spec: Any) -> Any:
        return np.zeros([0 if size is None else size for size in spec.shape], spec.dtype.as_numpy_dtype)

    empty = tf.nest.map_structure(nothing, STAGED_BLOCK)
    rates_of_nothing = empty.rates._replace(lock_factors=np.ones(1, np.float32), shared_negatives=np.int32(1))
    block: StagedBlock = empty._replace(
        block=empty.block._replace(window=np.int32(1)),
        rates=rates_of_nothing,
        run_tokens=np.int32(1),
        rows=BlockRows(np.zeros(0, np.int32), np.zeros((shards, 3), np.int32)),
        figures=figures,
    )
    return block
