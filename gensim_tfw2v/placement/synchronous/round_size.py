"""A corpus → the raw words of a round, and the parts into which a round is cut."""

from __future__ import annotations

from dataclasses import dataclass

from gensim_tfw2v import tuning
from gensim_tfw2v.placement.block_size import InFlightLimits, choose_block_words
from gensim_tfw2v.placement.request import CorpusSize


@dataclass(frozen=True)
class RoundSize:
    """The size of a round after the ramp-up."""

    words: int
    parts: int

    @property
    def part_words(self) -> int:
        """The raw words of a part."""
        return self.words // self.parts

    def in_training(self, size: CorpusSize) -> float:
        """Return the approximate number of rounds of a training; 0 if it is not known."""
        return size.epochs * size.total_words / self.words


def rounds_for_workers(size: CorpusSize, workers: int, round_words: int | None = None) -> RoundSize:
    """Return rounds that have a part for each worker.

    Parameters
    ----------
    round_words : int, optional
        The user's own size of rounds.
    """
    in_flight = tuning.ROUNDS_IN_FLIGHT * workers if workers > 1 else 1
    part = choose_block_words(size.total_words, workers, size.batch_words, in_flight)
    if size.batch_words is None:
        part = max(part, tuning.LEAST_BLOCK_WORDS)
    return RoundSize(size.chunk_words or round_words or workers * part, workers)


def reproducible_rounds(size: CorpusSize, round_words: int | None = None) -> RoundSize:
    """Return rounds whose parts depend on the corpus alone, and on the user's own sizes.

    Small corpora have rounds of one part: all parts of a round learn without each other, so an epoch needs many rounds.

    Parameters
    ----------
    round_words : int, optional
        The user's own size of rounds.
    """
    part = size.batch_words or tuning.LEAST_REPRODUCIBLE_PART_WORDS
    words = size.chunk_words or round_words
    if words is None:
        most = InFlightLimits().words(size.total_words)
        if size.batch_words is None:
            words = min(most, max(size.total_words // tuning.REPRODUCIBLE_ROUNDS, tuning.LEAST_BLOCK_WORDS))
        else:
            words = part * _parts_within(most // part)
    return RoundSize(words, _parts_within(words // part))


def _parts_within(most: int) -> int:
    """Return the largest power of two of parts that is at most this number: several threads share it evenly."""
    return 1 << (max(1, min(most, tuning.REPRODUCIBLE_PARTS)).bit_length() - 1)
