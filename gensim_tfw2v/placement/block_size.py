"""A corpus and its workers → the words of a block, and how many blocks are in flight."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gensim_tfw2v import tuning


@dataclass(frozen=True)
class InFlightLimits:
    """Limits on how much is trained at a time without the changes of other blocks in flight."""

    share: float = tuning.IN_FLIGHT_SHARE  # of an epoch's words
    most_words: float = tuning.MOST_IN_FLIGHT_WORDS

    def words(self, total_words: int) -> int:
        """Return the most raw words that all blocks in flight have together."""
        return int(min(max(total_words * self.share, tuning.LEAST_IN_FLIGHT_WORDS), self.most_words))


def in_flight_limits(words: int, skip_gram: bool, tree: bool) -> InFlightLimits:
    """Return the limits of blocks whose changes are corrected for each other's, for a vocabulary of `words` words.

    CBOW and hierarchical softmax score lower with more words in flight than skip-gram with negative sampling.
    """
    if words < tuning.SMALL_VOCABULARY:
        return InFlightLimits()
    share = tuning.SKIP_GRAM_IN_FLIGHT_SHARE if skip_gram and not tree else tuning.IN_FLIGHT_SHARE
    return InFlightLimits(share, math.inf)


def choose_block_words(
    total_words: int,
    workers: int,
    batch_words: int | None,
    in_flight: int = 1,
    limits: InFlightLimits = InFlightLimits(),
    most_words: int = tuning.MOST_BLOCK_WORDS,
    cores: int = 1,
) -> int:
    """Return how many raw words a worker takes at a time.

    Parameters
    ----------
    total_words : int
        Raw words of the corpus, 0 if not known.
    batch_words : int, optional
        The user's own choice.
    in_flight : int
        Blocks that are trained without each other's changes. The more there are, the smaller they are.
    limits : InFlightLimits
        Limits of all blocks in flight together.
    most_words : int
        Limit set by memory, for each core.
    cores : int
        Cores that train a block side by side. A block for c cores is c times as large, but all blocks in flight have
        no more words together than those of single cores would have.
    """
    if batch_words is not None:
        return batch_words
    most_words *= cores
    most = min(limits.words(total_words) // in_flight, most_words) if in_flight > 1 else most_words
    wanted = max(total_words // (tuning.BLOCKS_PER_WORKER * workers), cores * tuning.LEAST_BLOCK_WORDS)
    words = max(1, min(wanted, most))
    if 1 < in_flight <= total_words // words:
        # Equal blocks in full rounds: at the end of an epoch, no worker waits for a last block.
        rounds = math.ceil(total_words / (words * in_flight))
        words = math.ceil(total_words / (rounds * in_flight))
    return words


def most_local_block_words(tree: bool) -> int:
    """Return the most raw words that a thread of one process takes at a time, with or without the tree."""
    return tuning.MOST_LOCAL_TREE_BLOCK_WORDS if tree else tuning.MOST_LOCAL_BLOCK_WORDS


def blocks_overlap(total_words: int, block_words: int, workers: int) -> bool:
    """Return whether workers of a cluster pull a block's rows while they train the block before it.

    That doubles the blocks that lack each other's changes, so the corpus needs enough blocks.
    """
    return total_words // block_words >= tuning.BLOCKS_FOR_OVERLAP * workers


@dataclass(frozen=True)
class BlocksInFlight:
    """What workers train without waiting for each other, on rows of servers."""

    block_words: int  # raw words
    in_flight: int  # blocks; more than there are workers if these pull the next block's rows while they train
    negative_pool: int  # draws for the negatives of a block


def choose_blocks_in_flight(
    total_words: int,
    workers: int,
    limits: InFlightLimits,
    batch_words: int | None = None,
    cores: int = 1,
    overlap: bool | None = None,
    one_by_one: bool = False,
) -> BlocksInFlight:
    """Return the blocks of workers that never wait for each other.

    Parameters
    ----------
    batch_words : int, optional
        The user's own size of a block.
    cores : int
        Cores that every worker has for a block.
    overlap : bool, optional
        Whether workers pull the next block's rows while they train. By default the size of the corpus decides.
    one_by_one : bool
        Whether blocks are trained one after the other.
    """

    def block_words_of(in_flight: int) -> int:
        most = tuning.MOST_BLOCK_WORDS
        if in_flight > 1:  # the more words have a block, the less of its time is spent on its rows
            most = max(most, tuning.MOST_WORKER_BLOCK_WORDS // cores)
        return choose_block_words(total_words, in_flight, batch_words, in_flight, limits, most, cores)

    in_flight = 1 if one_by_one else workers
    if overlap is None:
        overlap = blocks_overlap(total_words, block_words_of(in_flight), workers)
    if overlap and not one_by_one:  # a block that is pulled while another is trained lacks that one's changes
        in_flight = 2 * workers
    block_words = block_words_of(in_flight)
    return BlocksInFlight(block_words, in_flight, choose_negative_pool(block_words))


def choose_call_blocks(total_words: int, workers: int, block_words: int, cores: int) -> int:
    """Return how many blocks of an encoded corpus a call of a worker trains, whose blocks are for so many cores."""
    most_words = min(tuning.CALL_WORDS * cores, total_words // (tuning.LEAST_CALLS * workers))
    return max(1, min(most_words // block_words, tuning.MOST_CALL_BLOCKS))


def choose_round_words(total_words: int, cores: int, skip_gram: bool) -> int:
    """Return the raw words of a round of averaging: a share of the corpus that gives cores neither tiny nor huge parts.

    Parameters
    ----------
    cores : int
        Cores of all workers together.
    """
    wanted = int(total_words * (tuning.SKIP_GRAM_ROUND_SHARE if skip_gram else tuning.CBOW_ROUND_SHARE))
    least, most = (words * cores for words in (tuning.LEAST_ROUND_PART_WORDS, tuning.MOST_ROUND_PART_WORDS))
    return max(1, min(max(wanted, least), most))


def choose_exchange_words(total_words: int) -> int:
    """Return the raw words that all workers of averaging train between two averages of shared rows."""
    return min(max(int(total_words * tuning.STEP_SHARE), tuning.LEAST_STEP_WORDS), tuning.MOST_STEP_WORDS)


def choose_hot_rows(tokens: float) -> int:
    """Return how many rows of a table are hot at most, if all blocks in flight have so many tokens together."""
    return max(tuning.MOST_HOT_ROWS, int(tokens * tuning.HOT_ROWS_PER_TOKEN))


def choose_negative_pool(block_words: int) -> int:
    """Return the size of the pool of draws for the negatives of a block on a cluster."""
    return max(tuning.LEAST_POOL_DRAWS, block_words // tuning.WORDS_PER_POOL_DRAW)
