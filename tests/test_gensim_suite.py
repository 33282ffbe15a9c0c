"""gensim's own tests of Word2Vec, from the installed wheel, with TFWord2Vec in the class's place.

gensim's test module names its class as ``word2vec.Word2Vec``. It is loaded here once more under another name,
and its global ``word2vec`` is replaced by a copy of gensim's module in which only ``Word2Vec`` differs.
gensim itself stays as it is, and each of its tests shows as a test of ours.
"""

from __future__ import annotations

import importlib.util
import os
import types
import unittest
from pathlib import Path

import gensim
import pytest
from gensim.models import word2vec

from gensim_tfw2v import TFWord2Vec


def _load_gensim_tests(name: str) -> types.ModuleType:
    """Return a fresh copy of gensim's test module under the given name."""
    spec = importlib.util.find_spec("gensim.test.test_word2vec")
    assert spec is not None and spec.origin is not None
    copy = importlib.util.spec_from_file_location(name, spec.origin)
    assert copy is not None and copy.loader is not None
    module = importlib.util.module_from_spec(copy)
    copy.loader.exec_module(module)
    return module


def _word2vec_module_with_our_class() -> types.ModuleType:
    """Return a copy of gensim.models.word2vec in which only Word2Vec is another class."""
    proxy = types.ModuleType(word2vec.__name__, word2vec.__doc__)
    proxy.__dict__.update(vars(word2vec))
    proxy.__dict__["Word2Vec"] = TFWord2Vec
    return proxy


def _test_classes(module: types.ModuleType | types.SimpleNamespace) -> dict[str, type[unittest.TestCase]]:
    """Return the test classes that a module holds, by name."""
    classes = {name: value for name, value in vars(module).items() if isinstance(value, type)}
    return {name: value for name, value in classes.items() if issubclass(value, unittest.TestCase)}


def _test_names(classes: dict[str, type[unittest.TestCase]]) -> set[str]:
    """Return the names of all tests of the given classes."""
    loader = unittest.TestLoader()
    return {f"{name}.{test}" for name, case in classes.items() for test in loader.getTestCaseNames(case)}


_suite = _load_gensim_tests("gensim_word2vec_tests_on_tfword2vec")
_suite.__dict__["word2vec"] = _word2vec_module_with_our_class()
globals().update(_test_classes(_suite))


@pytest.fixture(autouse=True)
def _keep_gensims_files_in_one_folder(scratch: Path) -> None:
    """Give gensim's tests a folder of their own: they write to the working and the temporary directory."""


def test_every_test_of_gensim_runs_here() -> None:
    here = _test_names(_test_classes(types.SimpleNamespace(**globals())))
    assert here == _test_names(_test_classes(_load_gensim_tests("gensim_word2vec_tests")))
    if gensim.__version__.startswith("4.4."):
        assert len(here) == 84


@pytest.mark.skipif("BULK_TEST_REPS" in os.environ, reason="gensim's bulk test has been asked for")
def test_only_the_bulk_test_is_skipped_as_in_gensim() -> None:
    skipped = {
        name
        for case_name, case in _test_classes(_suite).items()
        for test in unittest.TestLoader().getTestCaseNames(case)
        for name in [f"{case_name}.{test}"]
        if getattr(getattr(case, test), "__unittest_skip__", False)
    }
    assert skipped == {"TestWord2VecModel.test_method_in_bulk"}


def test_the_tests_use_our_class_and_gensim_keeps_its_own() -> None:
    assert _suite.word2vec.Word2Vec is TFWord2Vec
    assert word2vec.Word2Vec is not TFWord2Vec
