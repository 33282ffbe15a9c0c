"""Blocks that servers keep while they are trained, and the ids of their words, for graphs that call by name."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gensim_tfw2v.cluster.errors import TaskError
from gensim_tfw2v.placement.columns.column_blocks import ServerBlock, with_sentences
from gensim_tfw2v.placement.tasks.block_factory import BlockFactory
from gensim_tfw2v.placement.tasks.codec import encode

READ_WORDS = "gensim_tfw2v.read_words"
KEEP_COLUMN_BLOCK = "gensim_tfw2v.keep_column_block"
COLUMN_BATCH = "gensim_tfw2v.column_batch"
DROP_COLUMN_BLOCK = "gensim_tfw2v.drop_column_block"
_BLOCKS_KEPT = 256  # including those of coordinators that have died


class KeptBlocks:
    """Keeps the blocks in training where the tables are."""

    def __init__(self, factory: BlockFactory) -> None:
        self._factory = factory
        self._blocks: OrderedDict[tuple[int, int], ServerBlock] = OrderedDict()  # by the lease's key and the job
        self._lock = threading.Lock()

    def functions(self) -> Mapping[str, Callable[..., Any]]:
        """Return what graphs call, by name."""
        return {
            READ_WORDS: self.read_words,
            KEEP_COLUMN_BLOCK: self.keep,
            COLUMN_BATCH: self.batch,
            DROP_COLUMN_BLOCK: self.drop,
        }

    def read_words(self, name: bytes, assignment: Any) -> Any:
        """Return the bytes of an assignment that has the ids of its words."""
        return self._factory.answer(name, assignment, lambda model, work: encode(with_sentences(model, work)))

    def keep(self, name: bytes, assignment: Any, job: Any) -> np.bool_:
        """Make the block that an assignment describes, and keep it until it is dropped."""
        block: ServerBlock = self._factory.answer(name, assignment, ServerBlock.of)
        with self._lock:
            self._blocks[block.lease_key, int(job)] = block
            while len(self._blocks) > _BLOCKS_KEPT:
                self._blocks.popitem(last=False)
        return np.bool_(True)

    def batch(self, lease_key: Any, job: Any, batch: Any) -> Any:
        """Return the arrays of one of a kept block's batches."""
        with self._lock:
            block = self._blocks.get((int(lease_key), int(job)))
        if block is None or not 0 <= batch < block.batches:
            raise TaskError(f"this server has no batch {batch} of the job {job}")
        return list(block.batch(int(batch)))

    def drop(self, lease_key: Any, job: Any, is_done: Any) -> np.bool_:
        """Drop a block if it is done; otherwise another worker may still need it."""
        if is_done:
            with self._lock:
                self._blocks.pop((int(lease_key), int(job)), None)
        return np.bool_(True)
