"""gensim's own tests of Word2Vec pass with TFWord2Vec in the class's place; each shows as a test of ours."""

from __future__ import annotations

import os
import types
import unittest
from pathlib import Path

import gensim
import pytest
from gensim.models import word2vec
from support.gensim_suite import classes_of, load_gensim_tests, names_of

from gensim_tfw2v import TFWord2Vec

_suite = load_gensim_tests("gensim_word2vec_tests_on_tfword2vec", TFWord2Vec)
globals().update(classes_of(_suite))


@pytest.fixture(autouse=True)
def _keep_gensims_files_in_one_folder(scratch: Path) -> None:
    """Give gensim's tests a folder of their own: they write to the working and the temporary directory."""


def test_every_test_of_gensim_runs_here() -> None:
    here = names_of(classes_of(types.SimpleNamespace(**globals())))
    assert here == names_of(classes_of(load_gensim_tests("gensim_word2vec_tests")))
    if gensim.__version__.startswith("4.4."):
        assert len(here) == 84


@pytest.mark.skipif("BULK_TEST_REPS" in os.environ, reason="gensim's bulk test has been asked for")
def test_only_the_bulk_test_is_skipped_as_in_gensim() -> None:
    skipped = {
        name
        for case_name, case in classes_of(_suite).items()
        for test in unittest.TestLoader().getTestCaseNames(case)
        for name in [f"{case_name}.{test}"]
        if getattr(getattr(case, test), "__unittest_skip__", False)
    }
    assert skipped == {"TestWord2VecModel.test_method_in_bulk"}


def test_the_tests_use_our_class_and_gensim_keeps_its_own() -> None:
    assert _suite.word2vec.Word2Vec is TFWord2Vec
    assert word2vec.Word2Vec is not TFWord2Vec
