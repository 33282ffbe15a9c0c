"""Trains word vectors on 300 news articles and prints each epoch's loss and the neighbours of a few words."""

from __future__ import annotations

from gensim.models.callbacks import CallbackAny2Vec
from gensim.test.utils import datapath
from gensim.utils import simple_preprocess

from gensim_tfw2v import TFWord2Vec


class PrintLoss(CallbackAny2Vec):
    """Prints the mean loss per trained pair after each epoch."""

    def on_epoch_end(self, model: TFWord2Vec) -> None:
        print(f"epoch {len(model.epoch_losses):2}: loss {model.epoch_losses[-1]:.3f}")


def main() -> None:
    """Train a model and print the neighbours of a few words."""
    with open(datapath("lee_background.cor"), encoding="utf8") as articles:
        sentences = [simple_preprocess(article) for article in articles]
    model = TFWord2Vec(sentences, sg=1, epochs=30, compute_loss=True, callbacks=[PrintLoss()])
    for word in ("fire", "economy", "cricket"):
        neighbours = ", ".join(neighbour for neighbour, _ in model.wv.most_similar(word, topn=5))
        print(f"{word}: {neighbours}")


if __name__ == "__main__":
    main()
