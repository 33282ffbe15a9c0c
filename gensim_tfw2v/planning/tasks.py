"""A training → the bytes that tasks of each design send and hold."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gensim_tfw2v import tuning
from gensim_tfw2v.placement.block_size import (
    choose_blocks_in_flight,
    choose_call_blocks,
    choose_exchange_words,
    choose_hot_rows,
    choose_round_words,
)
from gensim_tfw2v.planning.workload import ID_BYTES, TABLES, Workload

SPAN_BYTES = 64  # that name the sentences of a block in an encoded corpus
CACHE_BYTES = 256 << 20  # `cache_memory`: ids that stay in memory
# Measured on processes whose tables are small: docs/how-it-works/planning.md.
_PROCESS = 650_000_000  # one process: Python, gensim, TensorFlow and its graphs
_SERVER, _WORKER, _COORDINATOR = 630_000_000, 640_000_000, 750_000_000
_THREAD = 25_000_000  # a thread of one process: a block and a batch's arrays
_CORE = 40_000_000  # the same of a worker's core
_CONNECTION = 3_000_000  # of a server with a worker
_COPIES = 5  # of rows on a worker, and of messages on a server, at their most
_MESSAGES_AT_ONCE = 2  # of workers that a server answers
_TOKEN = 20  # a block's arrays
_AVERAGED_TABLES, _ROW_STATE, _AVERAGED_NUMBER = 2, 4, 24  # of a worker that averages: docs/how-it-works


@dataclass(frozen=True)
class Traffic:
    """What a block takes on a worker. With averaging, a block is what a worker trains of a round."""

    block_words: float  # raw words
    in_flight: int  # blocks of all workers
    rows: float  # that the block trains
    one_way: float  # bytes that the worker receives, and about as many that it sends
    ids: float  # bytes from the coordinator
    rows_on_servers: bool = True  # otherwise what a worker sends, another one receives at the same time
    call_blocks: int = 1  # that a worker trains for one message from the coordinator

    @property
    def on_link(self) -> float:
        """Bytes that a worker's link carries one after the other: what is sent and received at a time counts once."""
        return 2 * self.one_way if self.rows_on_servers else self.one_way

    @property
    def bytes_a_word(self) -> float:
        """Bytes between all tasks for each raw word, as `training_report` counts them."""
        return (self.on_link + self.ids) / self.block_words


def downpour_traffic(workload: Workload, workers: int, cores: int, batch_words: int | None = None) -> Traffic:
    """Return what a block takes whose rows are on servers; `cores` are those of each worker."""
    blocks = choose_blocks_in_flight(workload.words, workers, workload.limits, batch_words, cores)
    words = workload.words / math.ceil(workload.words / blocks.block_words)  # the last block is shorter
    of_tables = workload.rows_of_block(words, blocks.negative_pool)
    rows = sum(of_tables)
    hot_rows = choose_hot_rows(blocks.in_flight * words * workload.kept_share) if blocks.in_flight > 1 else 0
    again = sum(min(of_table, hot_rows) for of_table in of_tables)
    one_way = (rows + again / 2) * (workload.row_bytes + ID_BYTES)
    call_blocks = blocks_of_a_call(workload, workers, words, cores)
    ids = bytes_of_ids(workload, words) / call_blocks
    return Traffic(words, blocks.in_flight, rows, one_way, ids, call_blocks=call_blocks)


def blocks_of_a_call(workload: Workload, workers: int, block_words: float, cores: int) -> int:
    """Return how many blocks of so many raw words a worker with some cores trains in one call."""
    return choose_call_blocks(workload.words, workers, math.ceil(block_words), cores) if workload.encoded else 1


def averaging_traffic(workload: Workload, workers: int, cores: int, batch_words: int | None = None) -> Traffic:
    """Return what a worker's part of a round takes, with an average of all changed rows at its end."""
    round_words = choose_round_words(workload.words, workers * cores, workload.skip_gram)
    if batch_words is not None:
        round_words = batch_words * workers
    part_words = max(round_words // workers, 1)
    rows = sum(workload.rows_of_block(part_words))
    exchanges = max(round_words // choose_exchange_words(workload.words), 1)
    one_way = averaged_bytes(workload, workers, part_words, round_words, exchanges)
    return Traffic(part_words, workers, rows, one_way, bytes_of_ids(workload, part_words), rows_on_servers=False)


def averaged_bytes(workload: Workload, workers: int, part_words: float, round_words: float, exchanges: int) -> float:
    """Return the bytes that a worker sends in a round of averaging. It receives about as many."""
    shared_rows = TABLES * min(tuning.AVERAGED_SHARED_ROWS, workload.vocabulary)
    # Shared rows are averaged in the exchanges, and not at the end.
    own, changed = (max(sum(workload.rows_of_block(words)) - shared_rows, 0) for words in (part_words, round_words))
    at_the_end = (own + changed) * (workload.row_bytes + ID_BYTES)
    return (workers - 1) / workers * (at_the_end + 2 * exchanges * shared_rows * workload.row_bytes)


def bytes_of_ids(workload: Workload, words: float) -> float:
    """Return the bytes in which the coordinator sends so many raw words."""
    return SPAN_BYTES if workload.encoded else words * workload.frequencies.known_share * ID_BYTES


def fits_cache(words: int) -> bool:
    """Return whether a corpus stays in memory as ids; a larger one is read in every epoch."""
    return words * ID_BYTES <= CACHE_BYTES


def memory_here(workload: Workload, cores: float) -> int:
    """Return the memory of a training in one process."""
    threads = round(cores) + 1 if cores > 1 else 1
    return round(_PROCESS + threads * _THREAD + _corpus_and_vocabulary(workload) + 2 * workload.table_bytes)


def memory_of_worker(workload: Workload, traffic: Traffic, cores: float) -> int:
    """Return the memory of a worker with copies of a block's rows, or with all tables if it averages them."""
    words = traffic.block_words
    rows = _COPIES * traffic.rows * workload.vector_bytes
    if not traffic.rows_on_servers:
        words = min(words, tuning.MOST_BLOCK_WORDS * max(cores, 1))
        numbers = min(workload.vocabulary * workload.vector_size, tuning.AVERAGED_NUMBERS_AT_ONCE)
        rows = TABLES * workload.vocabulary * (_AVERAGED_TABLES * workload.vector_bytes + _ROW_STATE)
        rows += _AVERAGED_NUMBER * numbers
    return round(_WORKER + max(cores, 1) * _CORE + rows + words * workload.kept_share * _TOKEN)


def memory_of_server(workload: Workload, traffic: Traffic, workers: int, servers: int) -> int:
    """Return the memory of a server with its part of all tables. Averaging needs a server, and does not use it."""
    if not traffic.rows_on_servers:
        return _SERVER
    answered = min(traffic.in_flight, _MESSAGES_AT_ONCE) * _COPIES * traffic.one_way / servers
    return round(_SERVER + workload.table_bytes / servers + workers * _CONNECTION + answered)


def memory_of_coordinator(workload: Workload, has_vectors: bool) -> int:
    """Return the memory of the process that calls `train()`: with all vectors, or with vectors on servers."""
    vectors = 2 * workload.table_bytes if has_vectors else 0  # the model's, and those that are fetched
    return round(_COORDINATOR + _corpus_and_vocabulary(workload) + vectors)


def _corpus_and_vocabulary(workload: Workload) -> int:
    ids = workload.words * ID_BYTES if fits_cache(workload.words) and not workload.encoded else 0
    return workload.model_bytes["vocab"] + ids
