"""Transformers of scikit-learn: documents → mean vectors of their words, by Word2Vec or FastText."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.fasttext import TFFastText
from gensim_tfw2v.runtime.extras import MissingPackageError
from gensim_tfw2v.word2vec import TFWord2Vec

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError:
    raise MissingPackageError("Word2VecVectorizer", "scikit-learn", "sklearn") from None

_WEIGHTINGS = ("mean", "sif")


class OfDocuments(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What vectorizers have in common: how documents become lists of words, and what scikit-learn asks about them."""

    tokenizer: Callable[[Any], Collection[Any]] | None
    workers: int
    arguments: Mapping[str, Any] | None
    _own: tuple[str, ...]  # arguments that are not the model's

    def check_is_fitted(self) -> None:
        """Raise scikit-learn's NotFittedError before `fit`."""
        check_is_fitted(self)

    def _settings(self) -> dict[str, Any]:
        """Return the arguments of the model."""
        settings: dict[str, Any] = self.get_params(deep=False)
        for name in ("tokenizer", "arguments", *self._own):
            del settings[name]
        return settings | {"seed": settings.pop("random_state")} | dict(self.arguments or {})

    def _words_of(self, documents: Iterable[Any]) -> list[list[Any]]:
        if isinstance(documents, str) or not hasattr(documents, "__iter__"):
            raise ValueError(f"X must be documents, each a list of words or a text, got {documents!r}")
        divide = self.tokenizer or _words_in
        return [list(divide(document)) for document in documents]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.non_deterministic = self.workers != 1
        return tags


class Word2VecVectorizer(OfDocuments):
    """Train vectors of words, and make a vector of each document: a transformer for scikit-learn's pipelines.

    A document is a list of words, or a text that `tokenizer` divides. Words that `fit` has not seen often enough do not
    count, and a document without other words gets a vector of zeros.

    Parameters
    ----------
    weighting : {"mean", "sif"}, optional
        ``"mean"``: the mean of the words' vectors. ``"sif"``, smooth inverse frequency: frequent words weigh less in
        the mean, and the direction that the documents of `fit` have in common is removed.
    sif_a : float, optional
        A word with this share of the corpus weighs half as much as a rare one.
    tokenizer : callable, optional
        Returns the words of a document. By default a text is divided at white space, and a list stays as it is.
    vector_size, window, min_count, sg, hs, negative, sample, alpha, epochs, workers : optional
        As for `TFWord2Vec`.
    random_state : int, optional
        Seed of `TFWord2Vec`.
    arguments : dict, optional
        More arguments of `TFWord2Vec` by name.

    Attributes
    ----------
    wv_ : gensim.models.KeyedVectors
        The vectors of words.

    Examples
    --------
    >>> from gensim_tfw2v import Word2VecVectorizer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> pipeline = make_pipeline(Word2VecVectorizer(min_count=1), LogisticRegression())
    >>> pipeline.fit([["cat", "meow"], ["dog", "woof"]], ["cat", "dog"])  # doctest: +SKIP
    """

    _model_class: type[TFWord2Vec] = TFWord2Vec
    _own = ("weighting", "sif_a")

    def __init__(
        self,
        *,
        weighting: str = "mean",
        sif_a: float = 1e-3,
        tokenizer: Callable[[Any], Collection[Any]] | None = None,
        vector_size: int = 100,
        window: int = 5,
        min_count: int = 5,
        sg: int = 0,
        hs: int = 0,
        negative: int = 5,
        sample: float = 1e-3,
        alpha: float = 0.025,
        epochs: int = 5,
        workers: int = 3,
        random_state: int = 1,
        arguments: Mapping[str, Any] | None = None,
    ) -> None:
        self.weighting = weighting
        self.sif_a = sif_a
        self.tokenizer = tokenizer
        self.vector_size = vector_size
        self.window = window
        self.min_count = min_count
        self.sg = sg
        self.hs = hs
        self.negative = negative
        self.sample = sample
        self.alpha = alpha
        self.epochs = epochs
        self.workers = workers
        self.random_state = random_state
        self.arguments = arguments

    def fit(self, X: Iterable[Any], y: Any = None) -> Word2VecVectorizer:
        """Train the vectors of words on documents; `y` is not used."""
        self._train(self._words_of(X))
        return self

    def fit_transform(self, X: Iterable[Any], y: Any = None, **fit_params: Any) -> Float32Array:
        """Train on documents, and return their vectors, a row each."""
        documents = self._words_of(X)
        self._train(documents)
        return self._vectors_of(documents)

    def transform(self, X: Iterable[Any]) -> Float32Array:
        """Return the vectors of documents, a row each."""
        check_is_fitted(self)
        return self._vectors_of(self._words_of(X))

    def _train(self, documents: list[list[Any]]) -> None:
        if self.weighting not in _WEIGHTINGS:
            raise ValueError(f"weighting must be {' or '.join(map(repr, _WEIGHTINGS))}, got {self.weighting!r}")
        if not self.sif_a > 0:
            raise ValueError(f"sif_a must be a number above 0, got {self.sif_a!r}")
        self.wv_ = self._model_class(documents, **self._settings()).wv
        self._n_features_out = self.wv_.vector_size
        self._weights: Float32Array | None = None
        self._direction: Float32Array | None = None
        if self.weighting == "sif":
            counts = [self.wv_.get_vecattr(word, "count") for word in self.wv_.index_to_key]
            shares = np.array(counts, np.float64) / sum(counts)
            self._weights = (self.sif_a / (self.sif_a + shares)).astype(np.float32)  # by Arora, Liang and Ma (2017)
            means = self._means_of(documents)
            # The direction of length 1 in which the means have the largest mean square: eigenvalues rise.
            self._direction = np.linalg.eigh(means.T.astype(np.float64) @ means)[1][:, -1].astype(np.float32)

    def _further_rows(self, documents: list[list[Any]]) -> dict[Any, Float32Array]:
        """Return the vectors of words that are not in the vocabulary; this class has none."""
        return {}

    def _means_of(self, documents: list[list[Any]]) -> Float32Array:
        """Return the mean of the vectors of each document's words, times their weights; 0 where there is none."""
        further, size = self._further_rows(documents), len(self.wv_.vectors)
        number_of = self.wv_.key_to_index | {word: size + place for place, word in enumerate(further)}
        ids: list[int] = []
        ends = [0]  # how many of them are in each document and in those before it
        for document in documents:
            ids += [found for found in map(number_of.get, document) if found is not None]
            ends.append(len(ids))
        values = np.ones(len(ids), np.float32)
        if self._weights is not None:  # a word outside the vocabulary is as rare as can be
            values = np.append(self._weights, np.ones(len(further), np.float32))[np.array(ids, np.int32)]
        known = (values, np.array(ids, np.int32), np.array(ends, np.int64))
        shares = csr_matrix(known, shape=(len(documents), size + len(further)))
        sums = shares[:, :size] @ self.wv_.vectors
        if further:
            sums += shares[:, size:] @ np.stack(list(further.values()))
        means: Float32Array = (sums / np.maximum(np.diff(ends), 1)[:, None]).astype(np.float32)
        return means

    def _vectors_of(self, documents: list[list[Any]]) -> Float32Array:
        means = self._means_of(documents)
        return means if self._direction is None else means - np.outer(means @ self._direction, self._direction)


class FastTextVectorizer(Word2VecVectorizer):
    """Train vectors of words and their n-grams, and make a vector of each document: new words of it count as well.

    It has the arguments, attributes and methods of `Word2VecVectorizer`; those of `TFFastText` alone are in `arguments`
    (``bucket``, ``min_n``, ``max_n``). Misspelt words and new forms of words count by their n-grams.

    Examples
    --------
    >>> from gensim_tfw2v import FastTextVectorizer
    >>> vectorizer = FastTextVectorizer(min_count=1, arguments={"bucket": 10_000})
    >>> vectorizer.fit([["cat", "meow"], ["dog", "woof"]]).transform(["cats"]).any()  # doctest: +SKIP
    True
    """

    _model_class = TFFastText

    def _further_rows(self, documents: list[list[Any]]) -> dict[Any, Float32Array]:
        words = {word for document in documents for word in document if isinstance(word, str)}
        return {word: self.wv_.get_vector(word) for word in sorted(words - self.wv_.key_to_index.keys())}


def _words_in(document: Any) -> Collection[Any]:
    if isinstance(document, str):
        return document.split()
    if isinstance(document, np.ndarray):
        return list(document.tolist())
    if not isinstance(document, Collection):
        raise ValueError(f"the document {document!r} of type {type(document).__name__} is no text and no list of words")
    return document
