"""The code of gensim's tutorial on Word2Vec, statement by statement, with gensim's class and with this package's.

https://radimrehurek.com/gensim/auto_examples/tutorials/run_word2vec.html has the same statements.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gensim.models
from gensim import utils
from gensim.test.utils import datapath

import gensim_tfw2v


class MyCorpus:
    """An iterable that yields sentences (lists of str)."""

    def __iter__(self) -> Iterator[list[str]]:
        with open(datapath("lee_background.cor"), encoding="utf-8") as lines:
            for line in lines:
                # assume there's one document per line, tokens separated by whitespace
                yield utils.simple_preprocess(line)


def tutorial(word2vec: type[Any], temporary_filepath: str) -> dict[str, Any]:
    """Run the tutorial with a class, and return what it shows."""
    shown: dict[str, Any] = {}
    sentences = MyCorpus()
    model = word2vec(sentences=sentences)
    shown["numbers of a vector"] = len(model.wv["king"])
    shown["first words"] = " ".join(model.wv.index_to_key[:5])

    model.save(temporary_filepath)
    new_model = word2vec.load(temporary_filepath)
    shown["words after load"] = len(new_model.wv)

    shown["words with min_count=10"] = len(word2vec(sentences, min_count=10).wv)
    shown["shape with vector_size=200"] = word2vec(sentences, vector_size=200).wv.vectors.shape
    model = word2vec(sentences, workers=4)
    _, sections = model.wv.evaluate_word_analogies(datapath("questions-words.txt"))
    shown["sections of analogies"] = len(sections)
    _, _, unknown = model.wv.evaluate_word_pairs(datapath("wordsim353.tsv"))
    shown["unknown word pairs, percent"] = round(unknown)

    model = word2vec.load(temporary_filepath)
    more_sentences = [
        ["Advanced", "users", "can", "load", "a", "model"],
        ["and", "continue", "training", "it", "with", "more", "sentences"],
    ]
    model.build_vocab(more_sentences, update=True)
    model.train(more_sentences, total_examples=model.corpus_count, epochs=model.epochs)
    shown["sentences of the last vocabulary"] = model.corpus_count

    model_with_loss = word2vec(sentences, min_count=1, compute_loss=True, hs=0, sg=1, seed=42)
    shown["loss above 0"] = model_with_loss.get_latest_training_loss() > 0
    return shown


def main() -> None:
    """Run the tutorial with both classes, and print what it shows side by side."""
    with tempfile.TemporaryDirectory() as folder:
        gensims = tutorial(gensim.models.Word2Vec, str(Path(folder) / "gensims"))
        ours = tutorial(gensim_tfw2v.Word2Vec, str(Path(folder) / "ours"))
        # Each class opens the model of the other.
        gensim.models.Word2Vec.load(str(Path(folder) / "ours"))
        gensim_tfw2v.Word2Vec.load(str(Path(folder) / "gensims"))
    for name, value in gensims.items():
        print(f"{name:33} {value!s:20} {ours[name]!s}")


if __name__ == "__main__":
    main()
