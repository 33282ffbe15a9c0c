"""How many words and parts a round has: by the workers of a cluster, or by the corpus alone."""

from __future__ import annotations

from typing import Any

import pytest

from gensim_tfw2v.placement.request import CorpusSize
from gensim_tfw2v.placement.synchronous.round_size import RoundSize, reproducible_rounds, rounds_for_workers


@pytest.mark.parametrize(
    ("total_words", "words", "parts"),
    [
        (0, 10_000, 1),
        (60_000, 10_000, 1),
        (500_000, 31_250, 1),
        (1_000_000, 62_500, 2),
        (1_500_000, 93_750, 4),
        (4_000_000, 131_072, 8),
        (17_000_000, 262_144, 8),
        (10**9, 262_144, 8),
    ],
)
def test_reproducible_rounds_follow_from_the_corpus(total_words: int, words: int, parts: int) -> None:
    found = reproducible_rounds(CorpusSize(total_words, epochs=5))
    assert found == RoundSize(words, parts)
    assert found.in_training(CorpusSize(total_words, epochs=5)) == 5 * total_words / words


@pytest.mark.parametrize(
    ("given", "round_words", "words", "parts"),
    [
        ({"batch_words": 1000}, None, 8000, 8),
        ({"batch_words": 10**6}, None, 10**6, 1),
        ({"batch_words": 1000}, 3000, 3000, 2),
        ({}, 10**6, 10**6, 8),
        ({}, 100, 100, 1),
    ],
)
def test_sizes_of_the_user_count(given: dict[str, int], round_words: int | None, words: int, parts: int) -> None:
    assert reproducible_rounds(CorpusSize(4_000_000, 5, **given), round_words) == RoundSize(words, parts)


@pytest.mark.parametrize("total_words", [0, 60_000, 1_500_000, 17_000_000])
@pytest.mark.parametrize("batch_words", [None, 777])
def test_a_training_that_is_resumed_has_the_same_rounds(total_words: int, batch_words: int | None) -> None:
    size: dict[str, Any] = {"total_words": total_words, "epochs": 5, "batch_words": batch_words}
    begun = reproducible_rounds(CorpusSize(**size))
    assert reproducible_rounds(CorpusSize(**size, chunk_words=begun.words)) == begun


def test_other_rounds_have_a_part_for_each_worker() -> None:
    assert rounds_for_workers(CorpusSize(4_000_000, 5), 3) == RoundSize(64_518, 3)
    assert rounds_for_workers(CorpusSize(4_000_000, 5, batch_words=900), 3) == RoundSize(2700, 3)
    assert rounds_for_workers(CorpusSize(4_000_000, 5), 3, round_words=500) == RoundSize(500, 3)
