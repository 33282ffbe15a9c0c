"""Vectorizers make the vectors of a plain computation, or infer them, and are transformers of scikit-learn."""

from __future__ import annotations

import importlib
import pickle
import sys
from typing import Any

import numpy as np
import pytest
from gensim.models.doc2vec import TaggedDocument
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from support.contract import two_topics
from support.documents import topics

from gensim_tfw2v import Doc2VecVectorizer, FastTextVectorizer, TFDoc2Vec, Word2VecVectorizer
from gensim_tfw2v.runtime.extras import MissingPackageError

SMALL: dict[str, Any] = {"vector_size": 8, "min_count": 1, "workers": 1, "epochs": 1}
DOCUMENTS = [["a", "b", "a"], ["b", "c"], ["c", "d", "d", "d"], ["a", "d"]] * 5
OTHERS = [["a", "unknown"], [], ["unknown"], ["d", "a", "d"]]


def plain_means(vectorizer: Word2VecVectorizer, documents: list[list[str]], a: float | None) -> np.ndarray:
    """Return the mean of each document's known words, weighted by the smooth inverse frequency if there is an `a`."""
    wv = vectorizer.wv_
    total = sum(wv.get_vecattr(word, "count") for word in wv.index_to_key)
    means = []
    for document in documents:
        known = [word for word in document if word in wv]
        weights = [1 if a is None else a / (a + wv.get_vecattr(word, "count") / total) for word in known]
        rows = [weight * wv[word].astype(float) for weight, word in zip(weights, known, strict=True)]
        means.append(np.mean(rows, axis=0) if rows else np.zeros(wv.vector_size))
    return np.array(means)


def test_means_are_those_of_the_words_vectors() -> None:
    vectorizer = Word2VecVectorizer(**SMALL).fit(DOCUMENTS)
    vectors = vectorizer.transform(OTHERS)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, plain_means(vectorizer, OTHERS, None), atol=1e-7)


def test_sif_weighs_words_and_removes_the_first_direction() -> None:
    vectorizer = Word2VecVectorizer(weighting="sif", sif_a=0.1, **SMALL).fit(DOCUMENTS)
    learnt, means = (plain_means(vectorizer, documents, 0.1) for documents in (DOCUMENTS, OTHERS))
    direction = np.linalg.svd(learnt)[2][0]
    expected = means - np.outer(means @ direction, direction)
    np.testing.assert_allclose(vectorizer.transform(OTHERS), expected, atol=1e-6)
    assert np.abs(expected).max() > 0.01


@pytest.mark.parametrize("weighting", ["mean", "sif"])
def test_fitting_and_transforming_at_once_gives_the_same(weighting: str) -> None:
    vectorizer = Word2VecVectorizer(weighting=weighting, **SMALL)
    vectors = vectorizer.fit_transform(DOCUMENTS)
    np.testing.assert_array_equal(vectors, vectorizer.transform(DOCUMENTS))
    np.testing.assert_array_equal(vectors, clone(vectorizer).fit(iter(DOCUMENTS)).transform(DOCUMENTS))


def test_texts_are_divided_at_white_space_or_by_a_tokenizer() -> None:
    texts = [" ".join(document) for document in DOCUMENTS]
    expected = Word2VecVectorizer(**SMALL).fit_transform(DOCUMENTS)
    np.testing.assert_array_equal(Word2VecVectorizer(**SMALL).fit_transform(np.array(texts)), expected)
    joined = ["-".join(document) for document in DOCUMENTS]
    by_hyphens = Word2VecVectorizer(tokenizer=lambda text: text.split("-"), **SMALL)
    np.testing.assert_array_equal(by_hyphens.fit_transform(joined), expected)


def test_a_fitted_transformer_can_be_pickled_and_names_its_features() -> None:
    vectorizer = Word2VecVectorizer(weighting="sif", **SMALL).fit(DOCUMENTS)
    again = pickle.loads(pickle.dumps(vectorizer))
    np.testing.assert_array_equal(again.transform(OTHERS), vectorizer.transform(OTHERS))
    assert again.get_params() == vectorizer.get_params()
    assert vectorizer.get_feature_names_out().tolist()[:2] == ["word2vecvectorizer0", "word2vecvectorizer1"]


def test_a_pipeline_is_searched_for_the_best_settings() -> None:
    documents = two_topics(120)
    labels = [document[0][:3] for document in documents]
    pipeline = make_pipeline(Word2VecVectorizer(**SMALL | {"sg": 1, "epochs": 5}), LogisticRegression())
    grid = {"word2vecvectorizer__vector_size": [4, 8], "word2vecvectorizer__arguments": [None, {"shared_negatives": 8}]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(documents, labels)
    assert search.best_score_ > 0.9
    assert len(search.cv_results_["params"]) == 4


@pytest.mark.parametrize(
    ("settings", "documents", "fragments"),
    [
        ({"weighting": "tf-idf"}, DOCUMENTS, ["weighting", "'sif'", "'tf-idf'"]),
        ({"sif_a": 0}, DOCUMENTS, ["sif_a", "0"]),
        ({"vector_size": 0}, DOCUMENTS, ["vector_size", "0"]),
        ({}, "a text", ["documents", "'a text'"]),
        ({}, 5, ["documents", "5"]),
        ({}, [["a"], 5], ["5 of type int"]),
    ],
)
def test_wrong_settings_and_documents_are_named(settings: Any, documents: Any, fragments: list[str]) -> None:
    vectorizer = Word2VecVectorizer(**SMALL | settings)
    with pytest.raises(ValueError) as caught:
        vectorizer.fit(documents)
    assert [fragment for fragment in fragments if fragment not in str(caught.value)] == []


# -- words with n-grams, and documents ---------------------------------------------------------------------------------

NGRAMS = SMALL | {"arguments": {"bucket": 500, "min_n": 2}}
SPELT = [["cats", "sat"], ["dogs", "cats"], ["dogs", "barked", "barked"], ["sat"]] * 5
MISSPELT = [["cats", "catss"], ["barkd", "dogs", "barkd"], [], ["dog", 5]]


@pytest.mark.parametrize("a", [None, 0.1])
def test_words_that_were_not_seen_count_by_their_ngrams(a: float | None) -> None:
    weighting = {"weighting": "mean"} if a is None else {"weighting": "sif", "sif_a": a}
    vectorizer = FastTextVectorizer(**NGRAMS, **weighting).fit(SPELT)
    wv, counts = vectorizer.wv_, {"cats": 10, "sat": 10, "dogs": 10, "barked": 10}
    expected = []
    for document in MISSPELT:
        words = [word for word in document if isinstance(word, str)]
        weights = [1 if a is None else a / (a + counts.get(word, 0) / 40) for word in words]
        rows = [weight * wv[word].astype(float) for weight, word in zip(weights, words, strict=True)]
        expected.append(np.mean(rows, axis=0) if rows else np.zeros(8))
    means = np.array(expected)
    if a is not None:
        direction = np.linalg.svd(plain_means(vectorizer, SPELT, a))[2][0]
        means -= np.outer(means @ direction, direction)
    np.testing.assert_allclose(vectorizer.transform(MISSPELT), means, atol=1e-6)
    assert np.abs(means[3]).max() > 0


def test_a_document_has_the_vector_that_the_model_infers() -> None:
    documents = two_topics(60)
    vectorizer = Doc2VecVectorizer(**SMALL, dm=0, infer_epochs=3).fit(documents)
    model = TFDoc2Vec([TaggedDocument(words, [n]) for n, words in enumerate(documents)], **SMALL, dm=0)
    np.testing.assert_array_equal(vectorizer.model_.dv.vectors, model.dv.vectors)
    new = [*documents[:5], ["unknown"], []]
    np.testing.assert_array_equal(vectorizer.transform(new), model.infer_corpus(new, epochs=3))
    assert vectorizer.get_feature_names_out().tolist()[:2] == ["doc2vecvectorizer0", "doc2vecvectorizer1"]


def test_documents_are_told_apart_by_a_pipeline() -> None:
    documents = [[str(word) for word in document.words] for document in topics(200)]
    labels = [number % 3 for number in range(200)]
    vectorizer = Doc2VecVectorizer(**SMALL | {"epochs": 20}, dm=0)
    pipeline = make_pipeline(vectorizer, LogisticRegression()).fit(documents[:150], labels[:150])
    assert pipeline.score([" ".join(document) for document in documents[150:]], labels[150:]) > 0.9


@pytest.mark.parametrize("vectorizer", [FastTextVectorizer(**NGRAMS), Doc2VecVectorizer(**SMALL)], ids=type)
def test_the_others_give_the_same_again_and_can_be_pickled(vectorizer: Any) -> None:
    vectors = vectorizer.fit_transform(SPELT)
    np.testing.assert_array_equal(vectors, vectorizer.transform(SPELT))
    np.testing.assert_array_equal(vectors, clone(vectorizer).fit(SPELT).transform(SPELT))
    again = pickle.loads(pickle.dumps(vectorizer))
    np.testing.assert_array_equal(again.transform(MISSPELT[:3]), vectorizer.transform(MISSPELT[:3]))


VECTORIZERS = [Word2VecVectorizer, FastTextVectorizer, Doc2VecVectorizer]
EACH_VECTORIZER = pytest.mark.parametrize("vectorizer", VECTORIZERS)


@EACH_VECTORIZER
def test_transforming_before_fitting_is_an_error(vectorizer: Any) -> None:
    with pytest.raises(NotFittedError):
        vectorizer().transform(DOCUMENTS)


# The other checks of scikit-learn fit arrays of numbers, which are no documents.
CHECKS = [
    "check_do_not_raise_errors_in_init_or_set_param",
    "check_estimator_cloneable",
    "check_estimator_get_tags_default_keys",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
]


# A version of scikit-learn has most of them.
@EACH_VECTORIZER
@pytest.mark.parametrize("check", [check for check in CHECKS if hasattr(estimator_checks, check)])
def test_the_checks_of_scikit_learn_that_apply_pass(check: str, vectorizer: Any) -> None:
    getattr(estimator_checks, check)(vectorizer.__name__, vectorizer(**SMALL))


@EACH_VECTORIZER
@pytest.mark.filterwarnings("ignore:Can't test estimator")
def test_scikit_learn_chooses_no_check_that_fails(vectorizer: Any) -> None:
    for estimator, check in estimator_checks.estimator_checks_generator(vectorizer(**SMALL)):
        check(estimator)


def test_without_scikit_learn_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    monkeypatch.delitem(sys.modules, "gensim_tfw2v.integrations.vectorizer")
    with pytest.raises(MissingPackageError, match=r"Word2VecVectorizer needs the package scikit-learn.*\[sklearn\]"):
        importlib.import_module("gensim_tfw2v.integrations.vectorizer")
