"""Finds the words that misspelt queries mean, by vectors of n-grams, and compares this with spelling alone.

The words are those of news and of Wikipedia articles that gensim's package holds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from random import Random

import numpy as np
from gensim.corpora.wikicorpus import extract_pages, filter_wiki
from gensim.models import FastText
from gensim.test.utils import datapath
from gensim.utils import open as open_file
from gensim.utils import simple_preprocess

from gensim_tfw2v import TFFastText

DUMP = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
QUERIES = 200
LEAST_LETTERS = 6  # of a word that is misspelt
SHOWN = 10  # words of an answer
CANDIDATES = 50  # words found by vectors, of which spelling chooses
NGRAMS = {"min_n": 2, "max_n": 4, "bucket": 100_000}
SETTINGS = {"vector_size": 50, "min_count": 5, "sg": 1, "epochs": 3, "workers": 1, "seed": 1, **NGRAMS}
ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")  # of a keyboard
Search = Callable[[str], list[str]]


def read_sentences() -> list[list[str]]:
    """Return paragraphs of news and of Wikipedia as lists of lower-case words."""
    texts = Path(datapath("lee_background.cor")).read_text(encoding="utf8").splitlines()
    with open_file(datapath(DUMP), "rb") as dump:
        for _, text, _ in extract_pages(dump, filter_namespaces=("0",)):
            if not text.lower().startswith("#redirect"):
                texts += filter_wiki(text).split("\n\n")
    return [words for words in map(simple_preprocess, texts) if len(words) > 2]


def misspelt(word: str, random: Random) -> str:
    """Return a word with a letter left out, doubled, swapped with the next one or replaced by a neighbouring key."""
    place = random.randrange(1, len(word) - 1)
    before, letter, after = word[:place], word[place], word[place + 1 :]
    row = next((row for row in ROWS if letter in row), letter)
    near = [row[key] for key in (row.index(letter) - 1, row.index(letter) + 1) if 0 <= key < len(row)]
    kinds = [before + after, before + letter + letter + after, before + after[0] + letter + after[1:]]
    return random.choice([*kinds, before + random.choice(near or [letter]) + after])


def make_queries(words: list[str], mistakes: int) -> list[tuple[str, str]]:
    """Return misspelt words of which the vocabulary has none, each with the word that it means."""
    random, known, queries = Random(7), set(words), []
    long = [word for word in words if len(word) >= LEAST_LETTERS and word.isascii() and word.isalpha()]
    for word in random.sample(long, 2 * QUERIES):
        query = word
        for _ in range(mistakes):
            query = misspelt(query, random)
        if query not in known:
            queries.append((query, word))
    return queries[:QUERIES]


def by_vectors(model: FastText) -> Search:
    """Return a search for the words whose vectors are nearest to that of a query."""
    return lambda query: [word for word, _ in model.wv.most_similar(query, topn=SHOWN)]


def by_both(model: FastText) -> Search:
    """Return a search for the words nearest to a query by their vectors, the most alike in spelling first."""

    def search(query: str) -> list[str]:
        near = [word for word, _ in model.wv.most_similar(query, topn=CANDIDATES)]
        return get_close_matches(query, near, n=SHOWN, cutoff=0)

    return search


def by_spelling(words: list[str]) -> Search:
    """Return a search for the words that share most letters in order with a query, as Python's difflib finds them."""
    return lambda query: get_close_matches(query, words, n=SHOWN, cutoff=0.6)


def by_edits(words: list[str]) -> Search:
    """Return a search for the words that need fewest edits: letters left out, added or replaced."""
    longest = max(map(len, words))
    letters = np.zeros((len(words), longest), np.int32)
    for row, word in enumerate(words):
        letters[row, : len(word)] = [ord(letter) for letter in word]
    lengths = np.array([len(word) for word in words])

    def search(query: str) -> list[str]:
        line = np.tile(np.arange(longest + 1), (len(words), 1))  # edits from the query's beginning to each word's
        for number, letter in enumerate(query, start=1):
            new = np.empty_like(line)
            new[:, 0] = number
            for place in range(1, longest + 1):
                replaced = line[:, place - 1] + (letters[:, place - 1] != ord(letter))
                new[:, place] = np.minimum(np.minimum(new[:, place - 1], line[:, place]) + 1, replaced)
            line = new
        edits = line[np.arange(len(words)), lengths]
        return [words[row] for row in np.argsort(edits, kind="stable")[:SHOWN]]  # the most frequent first

    return search


def measured(search: Search, queries: list[tuple[str, str]]) -> tuple[float, float, float]:
    """Return the shares of queries whose word is the first one found, and among all, and milliseconds a query."""
    started = time.perf_counter()
    found = [search(query) for query, _ in queries]
    milliseconds = 1000 * (time.perf_counter() - started) / len(queries)
    first = np.mean([bool(words) and words[0] == meant for words, (_, meant) in zip(found, queries, strict=True)])
    listed = np.mean([meant in words for words, (_, meant) in zip(found, queries, strict=True)])
    return float(first), float(listed), milliseconds


def main() -> None:
    """Train both classes, and measure every search on queries with one and with two mistakes."""
    sentences = read_sentences()
    seconds, models = {}, {}
    for name, fasttext in (("FastText", FastText), ("TFFastText", TFFastText)):
        started = time.perf_counter()
        models[name] = fasttext(sentences, **SETTINGS)
        seconds[name] = time.perf_counter() - started
    words = models["TFFastText"].wv.index_to_key
    print(f"{sum(map(len, sentences)):,} words of text, {len(words):,} different ones that occur 5 times or more")
    print("; ".join(f"{name}: {taken:.0f} s to train" for name, taken in seconds.items()))
    searches = {
        "exact word": lambda query: [query] if query in models["TFFastText"].wv.key_to_index else [],
        "difflib": by_spelling(words),
        "fewest edits": by_edits(words),
        "FastText": by_vectors(models["FastText"]),
        "TFFastText": by_vectors(models["TFFastText"]),
        "TFFastText, then difflib": by_both(models["TFFastText"]),
    }
    for mistakes in (1, 2):
        queries = make_queries(words, mistakes)
        print(f"\n{f'{len(queries)} queries, mistakes: {mistakes}':30} first   in ten   ms")
        for name, search in searches.items():
            first, listed, milliseconds = measured(search, queries)
            print(f"{name:30} {first:5.3f} {listed:8.3f} {milliseconds:4.0f}")
    print()
    for query in ("goverment", "electricty", "amercia"):
        print(f"{query}: {', '.join(by_vectors(models['TFFastText'])(query)[:4])}")


if __name__ == "__main__":
    main()
