"""gensim's FastText whose `train()` runs TensorFlow graphs: only arguments and hooks; other modules do the work."""

from __future__ import annotations

import os
from typing import Any

from gensim.models import FastText, Word2Vec

from gensim_tfw2v.model.arguments import all_arguments, signature_with_own
from gensim_tfw2v.model.facebook_files import opened
from gensim_tfw2v.model.gensim_files import as_class, loaded
from gensim_tfw2v.model.subwords import choose_bucket, found_quickly, loaded_quickly, memory_report, set_word_vectors
from gensim_tfw2v.word2vec import TFWord2Vec

_SIGNATURE = signature_with_own(FastText)


class TFFastText(TFWord2Vec, FastText):
    """Train, use and evaluate vectors of words and their n-grams as with `gensim.models.FastText`, faster.

    Every argument, attribute and method of gensim's class has the same meaning; `train()` runs TensorFlow graphs.
    Behind gensim's arguments are those that `TFWord2Vec` has of its own, each by name, and it has all of its methods.
    ``bucket=-1`` makes as many vectors as the words of the first vocabulary have different n-grams.

    Examples
    --------
    >>> from gensim_tfw2v import TFFastText
    >>> sentences = [["cat", "say", "meow"], ["dog", "say", "woof"]]
    >>> model = TFFastText(sentences, min_count=1, bucket=1000)
    >>> model.wv["cats"].shape  # a word that the model has not seen
    (100,)
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self._construct(all_arguments(type(self).__name__, _SIGNATURE, arguments, named))

    def estimate_memory(self, vocab_size: int | None = None, report: dict[str, int] | None = None) -> dict[str, int]:
        """Return the bytes that training needs by their use, and log their sum, as gensim does."""
        choose_bucket(self.wv)
        return memory_report(self, report or {})

    def init_weights(self) -> None:
        """Make the matrices, and find the n-grams of all words."""
        choose_bucket(self.wv)
        with found_quickly(self.wv):
            super().init_weights()

    def update_weights(self) -> None:
        """Add rows of new words to the matrices, and find their n-grams."""
        with found_quickly(self.wv):
            super().update_weights()

    def _clear_post_train(self) -> None:
        """Bring what follows from the trained rows up to date: the words' vectors, and no norms."""
        Word2Vec._clear_post_train(self)
        set_word_vectors(self.wv)

    @classmethod
    def load(cls, fname: str | os.PathLike[str], mmap: str | None = None) -> TFFastText:  # type: ignore[override]
        """Return a model saved by `save`, by gensim's own class or by a subclass of that, ready to train on."""
        return as_class(cls, loaded(loaded_quickly, fname, mmap))


def load_facebook_model(path: str | os.PathLike[str], encoding: str = "utf-8") -> TFFastText:
    """Return the model in a ``.bin`` file of Facebook's fastText, ready to train on.

    `gensim.models.fasttext.load_facebook_vectors` reads the vectors alone, and `save_facebook_model` there writes a
    model of this class as well.

    Parameters
    ----------
    path : str or os.PathLike
        The file, which may be compressed.
    encoding : str
        The encoding of its words.

    Examples
    --------
    >>> from gensim.models.fasttext import save_facebook_model
    >>> from gensim_tfw2v import TFFastText, load_facebook_model
    >>> model = TFFastText([["cat", "dog", "cow"]] * 10, min_count=1, bucket=100)
    >>> save_facebook_model(model, "animals.bin")
    >>> load_facebook_model("animals.bin").wv["cat"].shape
    (100,)
    """
    return opened(TFFastText, os.fspath(path), encoding)


TFFastText.__init__.__signature__ = _SIGNATURE  # type: ignore[attr-defined]
