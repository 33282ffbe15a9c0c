"""Trains a model that gensim's own class saved further with TFWord2Vec, and opens the result in gensim again.

gensim's package has the text, 300 news articles, and the similarities of words that people gave (WordSim-353).
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from gensim.models import Word2Vec
from gensim.test.utils import datapath
from gensim.utils import simple_preprocess

from gensim_tfw2v import TFWord2Vec

EARLY = 200  # articles that gensim's model learns from; the others arrive later
EPOCHS = 20  # of the training that continues


def read_articles() -> list[list[str]]:
    """Return the words of each article."""
    with open(datapath("lee_background.cor"), encoding="utf8") as articles:
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


def print_model(name: str, model: Word2Vec) -> None:
    """Print the class of a model, how well it agrees with people, and the neighbours of a word."""
    _, (agreement, _), unknown = model.wv.evaluate_word_pairs(datapath("wordsim353.tsv"))
    print(f"{name}: {type(model).__name__}, {len(model.wv)} words")
    print(f"    agreement with people: {agreement:.2f}, on the {100 - unknown:.0f} % of pairs whose words it knows")
    print(f"    fire: {', '.join(word for word, _ in model.wv.most_similar('fire', topn=5))}")


def main() -> None:
    """Print gensim's model before and after the training that continues."""
    articles = read_articles()
    with tempfile.TemporaryDirectory() as folder:
        old, new = Path(folder) / "old.model", Path(folder) / "new.model"
        save_with_gensim(articles[:EARLY], old)
        print_model("before", Word2Vec.load(str(old)))
        continue_training(old, articles, new)
        model = Word2Vec.load(str(new))
    print_model("after", model)
    model.train(articles, total_examples=len(articles), epochs=1)
    print_model("after one more epoch in gensim", model)


if __name__ == "__main__":
    main()
