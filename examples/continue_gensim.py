"""Trains a model that gensim's own class saved further with TFWord2Vec, and opens the result in gensim again.

The text is in gensim's package: 300 news articles to learn from, and 50 others for a test. The test cuts each of the 50
in half, and counts the first halves that have their own second half among the five nearest ones.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from gensim.models import KeyedVectors, Word2Vec
from gensim.test.utils import datapath
from gensim.utils import simple_preprocess

from gensim_tfw2v import TFWord2Vec

EARLY = 200  # articles that gensim's model learns from; the others arrive later
EPOCHS = 20  # of the training that continues
NEAREST = 5  # second halves, among which an article's own one has to be


def read_articles(name: str, encoding: str = "utf8") -> list[list[str]]:
    """Return the words of each article in a file of gensim's."""
    with open(datapath(name), encoding=encoding) as articles:
        return [simple_preprocess(article) for article in articles]


def save_with_gensim(articles: list[list[str]], file: Path) -> None:
    """Train gensim's own class, and save the model."""
    Word2Vec(articles, sg=1, workers=2, seed=1).save(str(file))


def continue_training(old: Path, articles: list[list[str]], new: Path) -> None:
    """Train a saved model further on all articles, with the words that are new in them, and save it."""
    model = TFWord2Vec.load(str(old))
    model.build_vocab(articles, update=True)
    model.train(articles, total_examples=len(articles), epochs=EPOCHS)
    model.save(str(new))


def share_of_matched_halves(vectors: KeyedVectors, articles: list[list[str]]) -> float:
    """Return the share of articles whose own second half is among the nearest to their first half."""
    first = np.array([vectors.get_mean_vector(article[: len(article) // 2]) for article in articles])
    second = np.array([vectors.get_mean_vector(article[len(article) // 2 :]) for article in articles])
    similarity = first @ (second / np.linalg.norm(second, axis=1, keepdims=True)).T
    nearer = (similarity > np.diag(similarity)[:, None]).sum(axis=1)  # second halves of other articles
    return float(np.mean(nearer < NEAREST))


def print_model(name: str, model: Word2Vec, unseen: list[list[str]]) -> None:
    """Print a model's class, its words, its score and the neighbours of a word."""
    kind, words, score = type(model).__name__, len(model.wv), share_of_matched_halves(model.wv, unseen)
    print(f"{name}: {kind} of {words} words, {score:.0%} of the halves matched")
    print(f"    nearest to fire: {', '.join(word for word, _ in model.wv.most_similar('fire', topn=5))}")


def main() -> None:
    """Print gensim's model before and after the training that continues."""
    articles, unseen = read_articles("lee_background.cor"), read_articles("lee.cor", "latin1")
    with tempfile.TemporaryDirectory() as folder:
        old, new = Path(folder) / "old.model", Path(folder) / "new.model"
        save_with_gensim(articles[:EARLY], old)
        print_model("before", Word2Vec.load(str(old)), unseen)
        continue_training(old, articles, new)
        model = Word2Vec.load(str(new))
    print_model("after", model, unseen)
    model.train(articles, total_examples=len(articles), epochs=1)
    print_model("after one more epoch in gensim", model, unseen)


if __name__ == "__main__":
    main()
