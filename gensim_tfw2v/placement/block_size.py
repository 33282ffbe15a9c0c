"""A corpus and its workers → how many words a block has, and what blocks in flight share."""

from __future__ import annotations

import math

from gensim_tfw2v import tuning


def choose_block_words(
    total_words: int,
    workers: int,
    batch_words: int | None,
    in_flight: int = 1,
    share_rows: bool = False,
    most_words: int = tuning.MOST_BLOCK_WORDS,
) -> int:
    """Return how many raw words a worker takes at a time.

    Parameters
    ----------
    total_words : int
        Raw words of the corpus, 0 if not known.
    batch_words : int, optional
        The user's own choice.
    in_flight : int
        Blocks that are trained without knowing of each other's changes: the more, the smaller.
    share_rows : bool
        Whether several in flight are to know of each other's changes of common rows.
    most_words : int
        What memory allows.
    """
    if batch_words is not None:
        return batch_words
    unshared = _words_in_flight(total_words) // in_flight
    most = min(unshared, most_words)
    if share_rows and in_flight > 1:
        of_epoch = int(total_words * tuning.SHARED_IN_FLIGHT_SHARE) // in_flight
        most = max(most, min(tuning.MOST_PARTS * unshared, of_epoch, most_words))
    words = max(1, min(max(total_words // (tuning.BLOCKS_PER_WORKER * workers), tuning.LEAST_BLOCK_WORDS), most))
    if 1 < in_flight <= total_words // words:
        # As many for each, so that none is left over which all others would wait for at the end of an epoch.
        rounds = math.ceil(total_words / (words * in_flight))
        words = math.ceil(total_words / (rounds * in_flight))
    return words


def most_local_block_words(tree: bool) -> int:
    """Return how many raw words a thread of one process takes at a time at most, if the tree is trained or not."""
    return tuning.MOST_LOCAL_TREE_BLOCK_WORDS if tree else tuning.MOST_LOCAL_BLOCK_WORDS


def _words_in_flight(total_words: int) -> int:
    """Return how many words at most are trained at a time without knowing of each other's changes."""
    words = int(total_words * tuning.IN_FLIGHT_SHARE)
    return min(max(words, tuning.LEAST_IN_FLIGHT_WORDS), tuning.MOST_IN_FLIGHT_WORDS)


def can_share_rows(words: int, skip_gram: bool, tree: bool) -> bool:
    """Return whether blocks in flight can share the changes of common rows, in a vocabulary of so many words.

    CBOW through the tree scores less by it.
    """
    return words >= tuning.SMALL_VOCABULARY and (skip_gram or not tree)


def choose_sharing(block_words: int, total_words: int, in_flight: int, share_rows: bool) -> tuple[int, int]:
    """Return after how many parts of a block its changes of common rows are shared, and how many those are."""
    parts = min(round(block_words * in_flight / _words_in_flight(total_words)), tuning.MOST_PARTS)
    return (parts, tuning.SHARED_ROWS) if share_rows and in_flight > 1 and parts > 1 else (1, 0)


def blocks_overlap(total_words: int, block_words: int, workers: int) -> bool:
    """Return whether workers of a cluster are to pull a block's rows while they train the one before it.

    That doubles the blocks that do not know of each other's changes, for which a corpus has to have enough of them.
    """
    return total_words // block_words >= tuning.BLOCKS_FOR_OVERLAP * workers



def choose_negative_pool(block_words: int) -> int:
    """Return how many draws the negatives of a cluster's block of so many raw words come from."""
    return max(tuning.LEAST_POOL_DRAWS, block_words // tuning.WORDS_PER_POOL_DRAW)
