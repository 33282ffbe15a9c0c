"""Half of the words of the similarity sets become rare, and pairs are scored by how many rare words they have."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from measuring.rare_pairs import KINDS, make_words_rare, scores_of_pairs
from scipy.stats import spearmanr
from support.benchmark_commands import corpus_in, run_command

from gensim_tfw2v.evaluation.scoring import bundled_pairs

COUNTS = (3, 7)


@pytest.fixture
def words() -> list[str]:
    """Return 60 words of the similarity sets, which have many pairs."""
    in_pairs = Counter(word for _, pairs in pairs_by_set() for first, second, _ in pairs for word in (first, second))
    return [word for word, _ in in_pairs.most_common(60)]


def pairs_by_set() -> list[tuple[str, list[tuple[str, str, float]]]]:
    """Return the pairs of each set, read as gensim does."""
    found = []
    for path in bundled_pairs():
        lines = [line.split("\t") for line in Path(path).read_text().splitlines() if not line.startswith("#")]
        found.append((path, [(first.lower(), second.lower(), float(human)) for first, second, human in lines]))
    return found


@pytest.fixture
def corpus(words: list[str], tmp_path: Path) -> Path:
    """Return a text in which each word of the sets occurs 20 times, and another one as often."""
    text = [*words, "other"] * 20
    np.random.default_rng(1).shuffle(text)
    path = tmp_path / "corpus.txt"
    path.write_text("".join(" ".join(text[first : first + 10]) + "\n" for first in range(0, len(text), 10)))
    return path


def test_half_of_the_words_keep_as_many_occurrences_as_asked_for(corpus: Path, words: list[str]) -> None:
    rare = make_words_rare(corpus, corpus.with_name("rare.txt"), seed=2, counts=COUNTS)
    after = Counter(corpus.with_name("rare.txt").read_text().split())
    assert len(rare) == len(words) // 2
    assert set(rare.values()) == set(COUNTS)
    for word in [*words, "other"]:
        assert after[word] == rare.get(word, 20)
    assert sum(after.values()) == len(corpus.read_text().split())


def test_the_same_seed_makes_the_same_words_rare(corpus: Path) -> None:
    made = [make_words_rare(corpus, corpus.with_name("rare.txt"), seed, COUNTS) for seed in (2, 2, 3)]
    assert made[0] == made[1]
    assert made[0] != made[2]


def test_a_corpus_without_words_of_the_sets_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tiny.txt"
    path.write_text("a b c\n")
    with pytest.raises(ValueError, match=r"tiny\.txt has fewer than two words of the similarity sets with 14 occur"):
        make_words_rare(path, tmp_path / "rare.txt", seed=1, counts=COUNTS)


def test_scores_are_the_correlations_of_plain_loops(words: list[str]) -> None:
    vectors = KeyedVectors(5)
    vectors.add_vectors(words, np.random.default_rng(1).normal(size=(len(words), 5)).astype(np.float32))
    rare = dict.fromkeys(words[::2], 3)
    expected: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for _, pairs in pairs_by_set():
        for number, kind in enumerate(KINDS):
            known = [
                (vectors.similarity(first, second), human)
                for first, second, human in pairs
                if first in words and second in words and (first in rare) + (second in rare) == number
            ]
            if len(known) > 1:
                expected[kind].append(100 * spearmanr(*zip(*known, strict=True))[0])
    wanted = {kind: np.mean(values) for kind, values in expected.items() if values}
    assert scores_of_pairs(vectors, rare) == pytest.approx(wanted, abs=1e-3)
    assert len(wanted) > 1


@pytest.mark.slow
def test_the_command_scores_pairs_of_rare_words(tmp_path: Path) -> None:
    small = ("--vector-size", 10, "--modes", "cbow-neg", "--repeats", 1, "--workers", 1, "--epochs", 1, "--references")
    pairs = ("--pairs", "--counts", 6, "--optimizers", "adagrad", "--systems", "tfw2v")
    done = run_command("rare_words.py", corpus_in(tmp_path), "--output", tmp_path / "results", *small, *pairs)
    assert done.returncode == 0, done.stderr
    (run,) = json.loads((tmp_path / "results" / "rare_words.json").read_text())["runs"]
    assert "ranks" not in run
    assert run["pairs"].keys() <= set(KINDS)
    assert "one rare word" in run["pairs"]
