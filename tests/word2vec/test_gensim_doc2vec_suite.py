"""gensim's own tests of Doc2Vec pass with TFDoc2Vec in the class's place; each shows as a test of ours."""

from __future__ import annotations

import types
from pathlib import Path

import gensim
import pytest
from gensim.models import doc2vec
from support.gensim_suite import changed, classes_of, load_tests_of_gensim, names_of

from gensim_tfw2v import TFDoc2Vec

FILE = "test_doc2vec"

_suite = load_tests_of_gensim(FILE, "gensim_doc2vec_tests_on_tfdoc2vec", doc2vec=changed(doc2vec, Doc2Vec=TFDoc2Vec))


globals().update(classes_of(_suite))


@pytest.fixture(autouse=True)
def _keep_gensims_files_in_one_folder(scratch: Path) -> None:
    """Give gensim's tests a folder of their own: they write to the working and the temporary directory."""


def test_every_test_of_gensim_runs_here() -> None:
    here = names_of(classes_of(types.SimpleNamespace(**globals())))
    assert here == names_of(classes_of(load_tests_of_gensim(FILE, "gensim_doc2vec_tests")))
    if gensim.__version__.startswith("4.4."):
        assert len(here) == 46


def test_the_tests_use_our_class_and_gensim_keeps_its_own() -> None:
    assert _suite.doc2vec.Doc2Vec is TFDoc2Vec
    assert doc2vec.Doc2Vec is not TFDoc2Vec
