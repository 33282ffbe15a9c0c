"""A training on a cluster → the bytes that its tasks send each other."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gensim_tfw2v import tuning
from gensim_tfw2v.placement.block_size import (
    choose_blocks_in_flight,
    choose_call_blocks,
    choose_exchange_words,
    choose_round_words,
)
from gensim_tfw2v.planning.block_rows import rows_of_block
from gensim_tfw2v.planning.workload import ID_BYTES, TABLES, Workload

_SPAN_BYTES = 64  # that name the sentences of a block in an encoded corpus


@dataclass(frozen=True)
class Traffic:
    """What a block takes on a worker. With averaging, a block is what a worker trains of a round."""

    block_words: float  # raw words
    in_flight: int  # blocks of all workers
    rows: float  # that the block trains
    pulled: float  # bytes that the worker receives: from servers, or with averaging from other workers
    pushed: float  # bytes that it sends
    ids: float  # bytes from the coordinator
    between_workers: bool = False  # what a worker receives, another one sends
    call_blocks: int = 1  # that a worker trains for one message from the coordinator

    @property
    def bytes_a_word(self) -> float:
        """Bytes between all tasks for each raw word, as `training_report` counts them."""
        sent = self.pushed if self.between_workers else self.pulled + self.pushed
        return (sent + self.ids) / self.block_words

    @property
    def bytes_in_turn(self) -> float:
        """Bytes that its link carries one after the other: what is sent and received at a time counts once."""
        return max(self.pulled, self.pushed) if self.between_workers else self.pulled + self.pushed


def downpour_traffic(workload: Workload, workers: int, cores: int, batch_words: int | None) -> Traffic:
    """Return what a block takes whose rows are on servers.

    Parameters
    ----------
    cores : int
        Of each worker.
    batch_words : int, optional
        The model's `batch_words`.
    """
    blocks = choose_blocks_in_flight(workload.words, workers, workload.limits, batch_words, cores)
    words = workload.words / math.ceil(workload.words / blocks.block_words)  # the last block is shorter
    rows = rows_of_block(workload, words, blocks.negative_pool).all
    one_way = rows * (workload.row_bytes + ID_BYTES)
    one_way += (blocks.parts - 1) * blocks.shared_rows * TABLES * workload.row_bytes
    ids = _bytes_of_ids(workload, words)
    call_blocks = blocks_of_a_call(workload, workers, words, cores)
    return Traffic(words, blocks.in_flight, rows, one_way, one_way, ids / call_blocks, call_blocks=call_blocks)


def blocks_of_a_call(workload: Workload, workers: int, block_words: float, cores: int) -> int:
    """Return how many blocks of so many raw words a worker with some cores trains in one call."""
    return choose_call_blocks(workload.words, workers, math.ceil(block_words), cores) if workload.encoded else 1


def averaging_traffic(workload: Workload, workers: int, cores: int, batch_words: int | None = None) -> Traffic:
    """Return what a worker's part of a round takes, with an average of all changed rows at its end."""
    round_words = choose_round_words(workload.words, workers * cores, workload.skip_gram)
    if batch_words is not None:
        round_words = batch_words * workers
    part_words = max(round_words // workers, 1)
    own = rows_of_block(workload, part_words, pool=None).all
    exchanges = max(round_words // choose_exchange_words(workload.words), 1)
    one_way = averaged_bytes(workload, workers, part_words, round_words, exchanges)
    ids = _bytes_of_ids(workload, part_words)
    return Traffic(part_words, workers, own, one_way, one_way, ids, between_workers=True)


def averaged_bytes(workload: Workload, workers: int, part_words: float, round_words: float, exchanges: int) -> float:
    """Return the bytes that a worker sends in a round of averaging. It receives about as many."""
    shared_rows = TABLES * min(tuning.AVERAGED_SHARED_ROWS, workload.vocabulary)
    # Shared rows are averaged in the exchanges, and not at the end.
    own, changed = (
        max(rows_of_block(workload, words, pool=None).all - shared_rows, 0) for words in (part_words, round_words)
    )
    at_the_end = (own + changed) * (workload.row_bytes + ID_BYTES)
    return (workers - 1) / workers * (at_the_end + 2 * exchanges * shared_rows * workload.row_bytes)


def _bytes_of_ids(workload: Workload, words: float) -> float:
    return _SPAN_BYTES if workload.encoded else words * workload.frequencies.known_share * ID_BYTES
