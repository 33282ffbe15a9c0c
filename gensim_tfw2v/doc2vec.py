"""gensim's Doc2Vec whose `train()` runs TensorFlow graphs: only arguments and hooks; other modules do the work."""

from __future__ import annotations

from collections.abc import Iterable
from functools import wraps
from typing import Any

from gensim.models import Doc2Vec, KeyedVectors
from gensim.models.doc2vec import TaggedLineDocument

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.corpus.documents import documents_with_words_and_tags
from gensim_tfw2v.model.arguments import all_arguments, signature_with_own
from gensim_tfw2v.model.documents import add_tags, check_documents, with_possible_tags
from gensim_tfw2v.model.inference import infer
from gensim_tfw2v.word2vec import TFWord2Vec

_SIGNATURE = signature_with_own(Doc2Vec, of_others=("sentences", "sg", "null_word"))


class TFDoc2Vec(TFWord2Vec, Doc2Vec):
    """Train, use and evaluate vectors of documents and words as with `gensim.models.Doc2Vec`, faster.

    Every argument, attribute and method of gensim's class has the same meaning; `train()` runs TensorFlow graphs.
    Behind gensim's arguments are those that `TFWord2Vec` has of its own, each by name, and it has all of its methods.
    Documents are trained in this process or on a cluster, with concatenated contexts (``dm_concat=1``) in this process.

    Examples
    --------
    >>> from gensim.models.doc2vec import TaggedDocument
    >>> from gensim_tfw2v import TFDoc2Vec
    >>> documents = [TaggedDocument(["cat", "say", "meow"], ["cats"]), TaggedDocument(["dog", "say", "woof"], ["dogs"])]
    >>> model = TFDoc2Vec(documents, min_count=1)
    >>> model.dv["cats"].shape
    (100,)
    """

    dv: KeyedVectors

    def __init__(self, *arguments: Any, **named: Any) -> None:
        found = all_arguments(type(self).__name__, _SIGNATURE, arguments, named)
        check_documents(found)
        if found["dm_mean"] is not None:
            found["cbow_mean"] = found["dm_mean"]
        self._construct(found)

    def scan_vocab(  # type: ignore[override]  # as gensim's own, which has no `workers`
        self,
        corpus_iterable: Iterable[Any] | None = None,
        corpus_file: str | None = None,
        progress_per: int = 100000,
        trim_rule: Any = None,
    ) -> tuple[int, int]:
        """Return the number of raw words and of documents of a corpus, and find its words and tags, as gensim does."""
        self._reader.forget()
        checked = None if corpus_iterable is None else documents_with_words_and_tags(corpus_iterable)
        words, documents = Doc2Vec.scan_vocab(self, checked, corpus_file, progress_per, trim_rule)
        return words, documents

    def build_vocab(
        self,
        corpus_iterable: Any = None,
        corpus_file: str | None = None,
        update: bool = False,
        progress_per: int = 10000,
        keep_raw_vocab: bool = False,
        trim_rule: Any = None,
        **kwargs: Any,
    ) -> None:
        """Build the vocabulary and list the tags of a corpus; with `update`, add new ones to those of the model."""
        others = {"progress_per": progress_per, "keep_raw_vocab": keep_raw_vocab, "trim_rule": trim_rule, **kwargs}
        if not update:
            super().build_vocab(corpus_iterable, corpus_file, **others)
            return
        documents = corpus_iterable if corpus_file is None else TaggedLineDocument(corpus_file)
        own = self.dv
        self.dv = found = KeyedVectors(self.vector_size)  # gensim lists the tags of these documents alone
        try:
            super().build_vocab(with_possible_tags(documents, own), update=True, **others)
        finally:
            self.dv = own
        add_tags(own, found, self.seed)

    @wraps(TFWord2Vec.train)
    def train(  # type: ignore[override]
        self, corpus_iterable: Any = None, corpus_file: Any = None, *arguments: Any, **named: Any
    ) -> Any:
        self._check_corpus_sanity(corpus_iterable, corpus_file)  # before other arguments, as gensim's class does
        return super().train(corpus_iterable, corpus_file, *arguments, **named)

    def infer_corpus(
        self,
        documents: Iterable[Any] | None = None,
        corpus_file: str | None = None,
        *,
        epochs: int | None = None,
        alpha: float | None = None,
        min_alpha: float | None = None,
    ) -> Float32Array:
        """Return the vectors of many new documents, which are inferred at once; the model stays as it is.

        It does for each document what `infer_vector` does, with all workers, about as fast as training, and always in
        this process. One seed gives the same vectors again.

        Parameters
        ----------
        documents : iterable, optional
            Lists of words, or objects with ``words`` such as `TaggedDocument`. An iterator is read into memory.
        corpus_file : str, optional
            A text with one document a line, in place of `documents`.
        epochs, alpha, min_alpha
            As for `infer_vector`. By default those of the model.

        Returns
        -------
        ndarray of float32, shape (documents, vector_size)
            The vectors in the order of the documents.
        """
        return infer(self, documents, corpus_file, epochs, alpha, min_alpha)


TFDoc2Vec.__init__.__signature__ = _SIGNATURE  # type: ignore[attr-defined]
