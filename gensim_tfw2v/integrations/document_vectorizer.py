"""A transformer of scikit-learn: documents → vectors that a Doc2Vec model infers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from gensim.models.doc2vec import TaggedDocument

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.doc2vec import TFDoc2Vec
from gensim_tfw2v.integrations.vectorizer import OfDocuments


class Doc2VecVectorizer(OfDocuments):
    """Train vectors of documents and words, and infer a vector of each document: a transformer for scikit-learn.

    A document is a list of words, or a text that `tokenizer` divides. `transform` infers the vectors of all documents,
    also of those that `fit` has seen, so a classifier learns from vectors like those that it will get. Without a known
    word, a vector is the small random one that gensim's `infer_vector` begins with.

    Parameters
    ----------
    tokenizer : callable, optional
        Returns the words of a document. By default a text is divided at white space, and a list stays as it is.
    infer_epochs : int, optional
        Passes over the documents of `transform`. By default `epochs`.
    vector_size, window, min_count, dm, dbow_words, hs, negative, sample, alpha, epochs, workers : optional
        As for `TFDoc2Vec`.
    random_state : int, optional
        Seed of `TFDoc2Vec`.
    arguments : dict, optional
        More arguments of `TFDoc2Vec` by name.

    Attributes
    ----------
    model_ : TFDoc2Vec
        The model. The vector of the document number n of `fit` is ``model_.dv[n]``.

    Examples
    --------
    >>> from gensim_tfw2v import Doc2VecVectorizer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> pipeline = make_pipeline(Doc2VecVectorizer(min_count=1), LogisticRegression())
    >>> pipeline.fit([["cat", "meow"], ["dog", "woof"]], ["cat", "dog"])  # doctest: +SKIP
    """

    _own = ("infer_epochs",)

    def __init__(
        self,
        *,
        tokenizer: Callable[[Any], Collection[Any]] | None = None,
        infer_epochs: int | None = None,
        vector_size: int = 100,
        window: int = 5,
        min_count: int = 5,
        dm: int = 1,
        dbow_words: int = 0,
        hs: int = 0,
        negative: int = 5,
        sample: float = 1e-3,
        alpha: float = 0.025,
        epochs: int = 10,
        workers: int = 3,
        random_state: int = 1,
        arguments: Mapping[str, Any] | None = None,
    ) -> None:
        self.tokenizer = tokenizer
        self.infer_epochs = infer_epochs
        self.vector_size = vector_size
        self.window = window
        self.min_count = min_count
        self.dm = dm
        self.dbow_words = dbow_words
        self.hs = hs
        self.negative = negative
        self.sample = sample
        self.alpha = alpha
        self.epochs = epochs
        self.workers = workers
        self.random_state = random_state
        self.arguments = arguments

    def fit(self, X: Iterable[Any], y: Any = None) -> Doc2VecVectorizer:
        """Train on documents; `y` is not used."""
        documents = [TaggedDocument(words, [number]) for number, words in enumerate(self._words_of(X))]
        self.model_ = TFDoc2Vec(documents, **self._settings())
        self._n_features_out = self.model_.vector_size
        return self

    def transform(self, X: Iterable[Any]) -> Float32Array:
        """Return the inferred vectors of documents, a row each."""
        self.check_is_fitted()
        return self.model_.infer_corpus(self._words_of(X), epochs=self.infer_epochs)
