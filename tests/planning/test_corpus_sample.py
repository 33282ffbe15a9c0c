"""What a sample says of a corpus: its words, its vocabulary and how words repeat."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from gensim_tfw2v import encode_corpus
from gensim_tfw2v.planning import corpus_sample
from gensim_tfw2v.planning.corpus_sample import estimate_corpus


def write_text(path: Path, words: int, seed: int = 1) -> np.ndarray:
    """Write a text of independent words whose frequencies fall as 1 / rank, and return how often each occurs."""
    ranks = np.random.default_rng(seed).zipf(1.3, words)
    ranks = ranks[ranks < 10**7]
    sentences = [ranks[first : first + 20] for first in range(0, len(ranks), 20)]
    path.write_text("\n".join(" ".join(f"w{rank}" for rank in sentence) for sentence in sentences))
    counts: np.ndarray = np.unique(ranks, return_counts=True)[1]
    return counts


def test_a_small_file_is_counted_exactly(tmp_path: Path) -> None:
    counts = write_text(tmp_path / "corpus.txt", 30_000)
    found = estimate_corpus(tmp_path / "corpus.txt", min_count=3)
    assert found.words == found.sampled_words == counts.sum()
    assert found.frequencies.vocabulary == found.least_vocabulary == found.most_vocabulary == np.sum(counts >= 3)
    assert found.frequencies.known_share == pytest.approx(counts[counts >= 3].sum() / counts.sum())


@pytest.mark.parametrize("min_count", [1, 5])
def test_a_sample_estimates_words_and_vocabulary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, min_count: int
) -> None:
    counts = write_text(tmp_path / "corpus.txt", 150_000)
    monkeypatch.setattr(corpus_sample, "_PIECE_BYTES", 2400)
    found = estimate_corpus(tmp_path / "corpus.txt", min_count)
    true = int(np.sum(counts >= min_count))
    assert found.sampled_words < 0.3 * counts.sum()
    assert found.words == pytest.approx(counts.sum(), rel=0.03)
    assert 0.9 * found.least_vocabulary <= true <= 1.1 * found.most_vocabulary
    assert found.frequencies.vocabulary == pytest.approx(true, rel=0.2)
    assert found.frequencies.known_share == pytest.approx(counts[counts >= min_count].sum() / counts.sum(), rel=0.1)


def test_a_file_may_be_a_part_of_the_corpus(tmp_path: Path) -> None:
    counts = write_text(tmp_path / "part.txt", 30_000)
    whole = write_text(tmp_path / "whole.txt", 150_000, seed=2)
    found = estimate_corpus(tmp_path / "part.txt", 5, words=int(whole.sum()))
    assert found.words == whole.sum() > counts.sum()
    assert found.frequencies.vocabulary == pytest.approx(np.sum(whole >= 5), rel=0.25)


def test_words_that_repeat_are_seen(tmp_path: Path) -> None:
    write_text(tmp_path / "independent.txt", 60_000)
    text = (tmp_path / "independent.txt").read_text().split()
    topics = [text[first : first + 1000] * 3 for first in range(0, len(text), 1000)]
    (tmp_path / "repeated.txt").write_text(" ".join(" ".join(topic) for topic in topics))
    independent, repeated = (
        estimate_corpus(tmp_path / f"{name}.txt", 1).frequencies.repetition for name in ("independent", "repeated")
    )
    assert independent > 0.8
    assert repeated < 0.6 * independent


def test_an_encoded_corpus_has_its_counts(tmp_path: Path) -> None:
    counts = write_text(tmp_path / "corpus.txt", 5000)
    encode_corpus(tmp_path / "corpus.txt", tmp_path / "encoded")
    found = estimate_corpus(tmp_path / "encoded", 2)
    assert found.encoded
    assert found.words == counts.sum()
    assert found.frequencies.vocabulary == np.sum(counts >= 2)
    with pytest.raises(ValueError, match="not 7"):
        estimate_corpus(tmp_path / "encoded", 2, words=7)
    with pytest.raises(ValueError, match="no word 1000000 times"):
        estimate_corpus(tmp_path / "encoded", 10**6)


def test_what_cannot_be_sampled_is_an_error(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "corpus.gz", "wt") as file:
        file.write("a b a")
    (tmp_path / "blank.txt").write_text(" \n \n")
    write_text(tmp_path / "corpus.txt", 100)
    for name, words, message in (
        ("corpus.gz", None, "is no plain text"),
        (".", None, "is no plain text"),
        ("blank.txt", None, "has no words"),
        ("corpus.txt", 5, "5 words are fewer than the"),
    ):
        with pytest.raises(ValueError, match=message):
            estimate_corpus(tmp_path / name, 1, words)
