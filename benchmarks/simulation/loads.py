"""A design and a training → the words, rows and bytes of what its workers train at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gensim_tfw2v import tuning
from gensim_tfw2v.placement.block_size import (
    choose_block_words,
    choose_blocks_in_flight,
    choose_exchange_words,
    choose_negative_pool,
    choose_round_words,
)
from gensim_tfw2v.placement.partition.draws import SHUFFLE, Partition
from gensim_tfw2v.placement.request import CorpusSize
from gensim_tfw2v.placement.synchronous.round_size import rounds_for_workers
from gensim_tfw2v.planning.tasks import averaged_bytes, bytes_of_ids, downpour_traffic
from gensim_tfw2v.planning.workload import ID_BYTES, TABLES
from simulation.scenario import Scenario

_COUNT_BYTES = 4  # of how often a sub-model has trained a word
_SHARED_ROWS = 512  # of each table, in versions that exchanged them
_SMALL_REST = 1e-2  # of a chunk: sentences are not cut, so chunks are a little longer than asked for


def count_of_chunks(total_words: int, chunk_words: int) -> int:
    """Return how many chunks an epoch has."""
    whole, rest = divmod(total_words, chunk_words)
    return whole + (rest > _SMALL_REST * chunk_words or not whole)


def first_chunks(scenario: Scenario, chunk_words: int) -> list[int]:
    """Return the words of the chunks that are simulated, of rounds: those of the whole training, or the first ones."""
    total = scenario.workload.words
    count = count_of_chunks(total, chunk_words)
    if scenario.most_blocks is not None and scenario.most_blocks < count:
        return [chunk_words] * scenario.most_blocks
    last = min(total - (count - 1) * chunk_words, chunk_words)
    return [*[chunk_words] * (count - 1), last] * scenario.workload.epochs


@dataclass(frozen=True)
class BlockLoad:
    """A block whose rows are on servers."""

    words: int
    blocks: int  # of the whole training
    in_flight: int  # of all workers
    overlaps: bool  # a worker pulls the next block's rows while it trains
    rows_bytes: float  # pulled, and pushed
    bytes_again: float  # read once more before the push
    shared_bytes: float  # pushed and pulled in each of a scenario's exchanges
    ids: float
    call_blocks: int  # that a worker trains for one message from the coordinator


def downpour_load(scenario: Scenario) -> BlockLoad:
    """Return the blocks of Downpour."""
    workload, workers = scenario.workload, scenario.workers
    chosen = choose_blocks_in_flight(
        workload.words, workers, workload.limits, scenario.batch_words, scenario.whole_cores
    )
    traffic = downpour_traffic(workload, workers, scenario.whole_cores, scenario.batch_words)
    chunks = count_of_chunks(workload.words, chosen.block_words)
    words = math.ceil(workload.words / chunks)
    rows_bytes = traffic.rows * (workload.row_bytes + ID_BYTES)
    overlaps = chosen.in_flight > workers
    return BlockLoad(
        words,
        chunks * workload.epochs,
        chosen.in_flight,
        overlaps,
        rows_bytes,
        2 * (traffic.one_way - rows_bytes) if scenario.exchanges is None else 0.0,
        _SHARED_ROWS * TABLES * workload.row_bytes,
        bytes_of_ids(workload, words),
        traffic.call_blocks,
    )


@dataclass(frozen=True)
class RoundLoad:
    """Synchronous rounds."""

    rounds: list[int]  # words of each that is simulated
    in_training: float  # rounds of the whole training
    parts: int  # of a round after the ramp-up
    negative_pool: int

    def rows_bytes(self, scenario: Scenario, words: float) -> float:
        """Return the bytes that a part of so many words pulls, and pushes."""
        rows = sum(scenario.workload.rows_of_block(words, self.negative_pool))
        return rows * (scenario.workload.row_bytes + ID_BYTES)


def round_load(scenario: Scenario) -> RoundLoad:
    """Return the rounds of the synchronous design."""
    workload = scenario.workload
    size = CorpusSize(workload.words, workload.epochs, scenario.batch_words)
    rounds = rounds_for_workers(size, scenario.workers)
    chunks = first_chunks(scenario, rounds.words)
    return RoundLoad(chunks, rounds.in_training(size), rounds.parts, choose_negative_pool(rounds.part_words))


@dataclass(frozen=True)
class AveragedRound:
    """A round of averaging."""

    words: int  # of all workers
    steps: int  # after each of which the workers average their shared rows
    shared_bytes: float  # that a worker sends, and receives, after a step
    rows_bytes: float  # at the end


def averaged_rounds(scenario: Scenario) -> list[AveragedRound]:
    """Return the rounds of averaging: those of the whole training, or some after the first ones."""
    workload, workers = scenario.workload, scenario.workers
    chunk_words = choose_round_words(workload.words, workers * scenario.whole_cores, workload.skip_gram)
    if scenario.batch_words is not None:
        chunk_words = scenario.batch_words * workers
    known: dict[int, AveragedRound] = {}
    found: list[AveragedRound] = []
    before = 0 if scenario.most_blocks is None else scenario.words
    for words in first_chunks(scenario, chunk_words):
        for of_round in [words] if workers == 1 else _halved(words, before):
            if of_round not in known:
                known[of_round] = _averaged_round(scenario, of_round)
            found.append(known[of_round])
            before += of_round
    return found


def _halved(words: int, before: int) -> list[int]:
    """Return the rounds of a chunk: none is longer than all words before it, unless it is one of the first."""
    if words <= max(before, tuning.FIRST_ROUND_WORDS):
        return [words]
    half = words // 2
    return [*_halved(half, before), *_halved(words - half, before + half)]


def _averaged_round(scenario: Scenario, words: int) -> AveragedRound:
    workload, workers = scenario.workload, scenario.workers
    if workers == 1:
        return AveragedRound(words, max(1, math.ceil(words / tuning.MOST_BLOCK_WORDS)), 0.0, 0.0)
    steps = max(1, math.ceil(words / (workers * tuning.MOST_BLOCK_WORDS * scenario.whole_cores)))
    steps = max(steps, round(words / choose_exchange_words(workload.words)))
    at_the_end, with_step = (
        averaged_bytes(workload, workers, words / workers, words, exchanges) for exchanges in (0, 1)
    )
    return AveragedRound(words, steps, with_step - at_the_end, at_the_end)


@dataclass(frozen=True)
class SubmodelLoad:
    """A sub-model's share of a chunk, and its tables."""

    words: int
    chunks: int  # of the whole training
    ids: float
    merged_bytes: float  # of a sub-model's tables, and of its counts if there are several


def submodel_load(scenario: Scenario) -> SubmodelLoad:
    """Return the shares of partition, with a sub-model for each worker."""
    workload = scenario.workload
    partition = Partition(scenario.workers, SHUFFLE, 1 / scenario.workers, "alir")
    share = choose_block_words(
        int(workload.words * partition.rate), 1, scenario.batch_words, cores=scenario.whole_cores
    )
    chunks = count_of_chunks(workload.words, partition.chunk_words(share))
    words = math.ceil(workload.words * partition.rate / chunks)
    counts = workload.vocabulary * _COUNT_BYTES if scenario.workers > 1 else 0
    merged = workload.table_bytes + counts
    return SubmodelLoad(words, chunks * workload.epochs, bytes_of_ids(workload, words), merged)
