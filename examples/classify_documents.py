"""Classifies news posts by vectors of documents, beside means of their words' vectors and counts of words.

The posts are 200 of the collection 20 newsgroups. Other texts, whose subjects nobody has noted, help to train the
vectors. gensim's package holds all of them.
"""

from __future__ import annotations

import io
import pickle
import re
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from gensim.models.doc2vec import Doc2Vec, TaggedDocument
from gensim.test.utils import datapath
from gensim.utils import simple_preprocess
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gensim_tfw2v import TFDoc2Vec, TFWord2Vec

LABELLED = (10, 100)  # posts whose subject the classifier learns
SPLITS = 20
SETTINGS: dict[str, Any] = {"vector_size": 50, "min_count": 2, "workers": 2, "seed": 1}
_AS_DICTIONARY = {("__builtin__", "dict"), ("sklearn.datasets.base", "Bunch")}
_ARRAYS = {("copy_reg", "_reconstructor"), ("numpy.core.multiarray", "_reconstruct"), ("numpy", "ndarray")}
_ARRAYS.add(("numpy", "dtype"))
Documents = list[list[str]]


class PostsReader(pickle.Unpickler):
    """Reads a pickle of dictionaries and arrays, and refuses others, because a pickle can run any code."""

    def find_class(self, module: str, name: str) -> Any:
        """Return the class of an object of the file."""
        if (module, name) in _AS_DICTIONARY:
            return dict
        if (module, name) in _ARRAYS:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} does not belong here")


def own_text(post: str) -> str:
    """Return what the author of a post wrote: no header, quotation nor signature, which would name the newsgroup."""
    lines = post.partition("\n\n")[2].strip().splitlines()
    blank = [number for number, line in enumerate(lines) if not line.strip(" -")]
    lines = lines[: blank[-1]] if blank else lines
    own = [line for line in lines if not line.lstrip().startswith((">", "|", ":"))]
    return "\n".join(line for line in own if not re.search(r"(writes|wrote):?$|^In article", line.strip()))


def read_posts() -> tuple[Documents, np.ndarray]:
    """Return the words of each post, and the number of its newsgroup."""
    packed = Path(datapath("mini_newsgroup")).read_bytes()
    posts = PostsReader(io.BytesIO(zlib.decompress(packed)), encoding="latin1").load()
    documents = [simple_preprocess(own_text(post)) for post in posts["data"]]
    kept = [number for number, words in enumerate(documents) if len(words) >= 20]
    return [documents[number] for number in kept], np.array(posts["target"])[kept]


def read_others() -> Documents:
    """Return the words of news articles, whose subjects nobody has noted."""
    return [simple_preprocess(line) for line in Path(datapath("lee_background.cor")).open(encoding="utf8")]


def tagged(documents: Documents) -> list[TaggedDocument]:
    """Return documents with their numbers as tags."""
    return [TaggedDocument(words, [number]) for number, words in enumerate(documents)]


def mean_vectors(vectors: Any, documents: Documents) -> np.ndarray:
    """Return the mean of the vectors of each document's known words."""
    return np.array([np.mean([vectors[word] for word in words if word in vectors], axis=0) for words in documents])


def inferred_by_gensim(model: Doc2Vec, documents: Documents) -> np.ndarray:
    """Return the vectors that gensim infers, one after the other."""
    return np.array([model.infer_vector(words) for words in documents])


def accuracies(features: Any, labels: np.ndarray, classifier: Any) -> list[float]:
    """Return the mean share of right answers for each number of labelled posts, over random choices of these."""
    found = []
    for labelled in LABELLED:
        generator, scores = np.random.default_rng(3), []
        for _ in range(SPLITS):
            order = generator.permutation(len(labels))
            train, test = order[:labelled], order[labelled:]
            scores.append(classifier.fit(features[train], labels[train]).score(features[test], labels[test]))
        found.append(float(np.mean(scores)))
    return found


def main() -> None:
    """Train the models on all texts without labels, and classify the posts."""
    posts, labels = read_posts()
    texts = [*posts, *read_others()]
    print(f"{len(posts)} posts of 2 newsgroups, {len(texts)} texts, {sum(map(len, texts)):,} words\n")
    linear = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=1000))
    rows: dict[str, tuple[Any, float]] = {}

    def add(name: str, make: Any) -> None:
        started = time.perf_counter()
        features = make()
        rows[name] = features, time.perf_counter() - started

    add("TF-IDF of words", lambda: TfidfVectorizer(analyzer=lambda words: words).fit_transform(posts))
    add("TFWord2Vec, mean of words", lambda: mean_vectors(TFWord2Vec(texts, sg=1, epochs=20, **SETTINGS).wv, posts))
    dbow, dm = ({**SETTINGS, "dm": mode, "epochs": 40} for mode in (0, 1))
    add("Doc2Vec, dm=0", lambda: inferred_by_gensim(Doc2Vec(tagged(texts), **dbow), posts))
    add("TFDoc2Vec, dm=0", lambda: TFDoc2Vec(tagged(texts), **dbow, optimizer="sgd").infer_corpus(posts))
    add("TFDoc2Vec, dm=1", lambda: TFDoc2Vec(tagged(texts), **dm, optimizer="sgd").infer_corpus(posts))
    print(f"{'posts with a label':28} {LABELLED[0]:>6} {LABELLED[1]:>6}  seconds")
    for name, (features, seconds) in rows.items():
        few, many = accuracies(features, labels, linear if name != "TF-IDF of words" else LogisticRegression(C=10))
        print(f"{name:28} {few:6.3f} {many:6.3f} {seconds:8.1f}")


if __name__ == "__main__":
    main()
