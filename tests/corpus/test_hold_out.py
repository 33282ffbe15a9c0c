"""Sentences that are held out of training: a share of them, the same in every pass and however they are read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gensim_tfw2v.corpus.chunks import Chunk, Pieces
from gensim_tfw2v.corpus.file_scan import scan_file
from gensim_tfw2v.corpus.fixed_draws import fractions, key_of
from gensim_tfw2v.corpus.hold_out import HoldOut
from gensim_tfw2v.corpus.iterable_source import IterableSource
from gensim_tfw2v.corpus.sentence_scan import scan_sentences
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.sources import MAX_SENTENCE_WORDS, CacheBudget, FileSource, Reading, Source

WORDS = [f"w{number}" for number in range(50)]
IDS = {word: number for number, word in enumerate(WORDS)}
RANDOM = np.random.default_rng(3)
SENTENCES = [[WORDS[number] for number in RANDOM.integers(0, 50, length)] for length in RANDOM.integers(1, 9, 400)]
HELD_OUT = HoldOut(0.2, key=17)
MEMORY, NOTHING = CacheBudget(2**20, 0), CacheBudget(0, 0)


def as_lists(sentences: Sentences) -> list[list[int]]:
    return [part.tolist() for part in np.split(sentences.ids, np.cumsum(sentences.lengths)[:-1])]


def trained_by(source: Source) -> list[list[int]]:
    """Return the sentences of one pass."""
    found: list[list[int]] = []
    for chunk in source.epoch():
        assert isinstance(chunk, Chunk) and isinstance(chunk.content, Sentences)
        found += as_lists(chunk.content)
    return found


def held_out_by(source: Source) -> list[list[int]]:
    """Return the sentences that are held out."""
    found: list[list[int]] = []
    source.hold_out(lambda pieces: found.extend(as_lists(pieces.sentences)))
    return found


def expected() -> tuple[list[list[int]], list[list[int]]]:
    """Return the sentences as ids that are trained, and those that are held out."""
    is_out = HELD_OUT.chosen(np.arange(len(SENTENCES)))
    as_ids = [[IDS[word] for word in sentence] for sentence in SENTENCES]
    return (
        [sentence for sentence, out in zip(as_ids, is_out, strict=True) if not out],
        [sentence for sentence, out in zip(as_ids, is_out, strict=True) if out],
    )


def write(folder: Path) -> Path:
    path = folder / "corpus.txt"
    path.write_text("\n".join(map(" ".join, SENTENCES)) + "\n", encoding="utf8")
    return path


@pytest.mark.parametrize("budget", [MEMORY, NOTHING], ids=["cached", "read again"])
@pytest.mark.parametrize("words_per_chunk", [7, 300, 10_000])
def test_an_iterable_trains_every_sentence_but_those_held_out(budget: CacheBudget, words_per_chunk: int) -> None:
    trained, held_out = expected()
    source = IterableSource(SENTENCES, Reading(IDS, words_per_chunk, budget, held_out=HELD_OUT))
    assert held_out_by(source) == held_out
    assert trained_by(source) == trained
    assert trained_by(source) == trained


@pytest.mark.parametrize("workers", [1, 2])
def test_a_file_holds_out_the_same_sentences_as_an_iterable(tmp_path: Path, workers: int) -> None:
    trained, held_out = expected()
    source = FileSource(write(tmp_path), Reading(IDS, 100, NOTHING, held_out=HELD_OUT), workers, part_bytes=512)
    assert held_out_by(source) == held_out
    assert trained_by(source) == trained


def test_corpora_that_were_scanned_hold_out_the_same_sentences(tmp_path: Path) -> None:
    trained, held_out = expected()
    path = write(tmp_path)
    of_file = FileSource(path, Reading(IDS, 100, NOTHING, held_out=HELD_OUT), 1, scan_file(path, 1, MEMORY))
    scan = scan_sentences(SENTENCES, SENTENCES, MEMORY, lambda *_: None)
    of_list = IterableSource(SENTENCES, Reading(IDS, 100, NOTHING, held_out=HELD_OUT), scan=scan)
    for source in (of_file, of_list):
        assert held_out_by(source) == held_out
        assert trained_by(source) == trained


def test_chunks_count_only_what_is_trained() -> None:
    trained, _ = expected()
    source = IterableSource(SENTENCES, Reading(IDS, 100, NOTHING, held_out=HELD_OUT))
    chunks = list(source.epoch())
    assert sum(chunk.sentences for chunk in chunks) == len(trained)
    assert sum(chunk.raw_words for chunk in chunks) == sum(map(len, trained))


def test_nothing_is_held_out_by_default() -> None:
    source = IterableSource(SENTENCES, Reading(IDS, 100, NOTHING))
    assert held_out_by(source) == []
    assert len(trained_by(source)) == len(SENTENCES)


def test_all_pieces_of_an_overlong_sentence_stay_together() -> None:
    overlong = [WORDS[0]] * (2 * MAX_SENTENCE_WORDS + 5)
    sentences = [overlong if number % 3 == 0 else ["w1"] for number in range(30)]
    is_out = HELD_OUT.chosen(np.arange(30))
    assert 0 < is_out[::3].sum() < 10
    source = IterableSource(sentences, Reading(IDS, 100, NOTHING, held_out=HELD_OUT))
    assert sum(map(len, held_out_by(source))) == sum(
        len(sentence) for sentence, out in zip(sentences, is_out, strict=True) if out
    )


@pytest.mark.parametrize("share", [0.001, 0.1, 0.5, 0.99])
def test_the_share_is_that_of_all_sentences(share: float) -> None:
    found = HoldOut(share, key=5).chosen(np.arange(200_000)).mean()
    assert found == pytest.approx(share, abs=4 * (share * (1 - share) / 200_000) ** 0.5)


def test_other_keys_hold_other_sentences_out() -> None:
    numbers = np.arange(10_000)
    both = HoldOut(0.3, key=1).chosen(numbers) & HoldOut(0.3, key=2).chosen(numbers)
    assert both.mean() == pytest.approx(0.09, abs=0.015)


def test_a_sentence_and_the_next_are_chosen_independently() -> None:
    chosen = HoldOut(0.3, key=1).chosen(np.arange(20_000))
    assert (chosen[1:] & chosen[:-1]).mean() == pytest.approx(0.09, abs=0.01)


def test_fractions_are_spread_evenly() -> None:
    found = fractions(key_of((1, 2, 3), 4), np.arange(100_000))
    counts, _ = np.histogram(found, bins=20, range=(0, 1))
    assert counts.sum() == 100_000
    np.testing.assert_allclose(counts, 5000, rtol=0.07)


def test_pieces_without_sentences_hold_nothing_out() -> None:
    none = Pieces.whole(Sentences(np.zeros(0, np.int32), np.zeros(0, np.int32)))
    assert [pieces.words for pieces in HELD_OUT.without([none, none])] == [0, 0]
