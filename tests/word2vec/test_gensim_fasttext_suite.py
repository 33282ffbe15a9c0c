"""gensim's own tests of FastText pass with TFFastText in the class's place; each shows as a test of ours."""

from __future__ import annotations

import functools
import types
import unittest
from pathlib import Path
from typing import Any

import gensim
import pytest
from gensim.models import fasttext
from support.gensim_suite import changed, classes_of, load_tests_of_gensim, names_of

from gensim_tfw2v import TFFastText, load_facebook_model

FILE = "test_fasttext"


def parts_of(module: types.ModuleType) -> dict[str, Any]:
    """Return a module's own test classes, and its test functions with their fixtures; it imports a class of others."""
    functions = {name: value for name, value in vars(module).items() if name.startswith(("test_", "_test"))}
    own = {name: case for name, case in classes_of(module).items() if case.__module__ == module.__name__}
    return own | {name: value for name, value in functions.items() if callable(value)}


_ours = changed(fasttext, FastText=TFFastText, load_facebook_model=load_facebook_model)
_suite = load_tests_of_gensim(
    FILE,
    "gensim_fasttext_tests_on_tffasttext",
    FT_gensim=TFFastText,
    gensim=changed(gensim, models=changed(gensim.models, fasttext=_ours)),
)


def _train_by_sgd(case: type[unittest.TestCase], *names: str) -> None:
    """Have tests train by SGD.

    They ask that two words are alike after so little training that gensim's vectors of all words are nearly equal.
    Adagrad has told the words apart by then.
    """
    by_sgd = functools.partial(TFFastText, optimizer="sgd")
    for name in names:
        test = getattr(case, name)

        @functools.wraps(test)
        def run(self: unittest.TestCase, test: Any = test) -> None:
            with pytest.MonkeyPatch.context() as patch:
                patch.setitem(_suite.__dict__, "FT_gensim", by_sgd)
                test(self)

        setattr(case, name, run)


_train_by_sgd(_suite.TestFastTextModel, "test_sg_hs_online", "test_cbow_hs_online")
globals().update(parts_of(_suite))


@pytest.fixture(autouse=True)
def _keep_gensims_files_in_one_folder(scratch: Path) -> None:
    """Give gensim's tests a folder of their own: they write to the working and the temporary directory."""


def test_every_test_of_gensim_runs_here() -> None:
    here = classes_of(types.SimpleNamespace(**globals()))
    of_gensim = parts_of(load_tests_of_gensim(FILE, "gensim_fasttext_tests"))
    assert names_of(here) == names_of(classes_of(types.SimpleNamespace(**of_gensim)))
    assert of_gensim.keys() - here.keys() <= globals().keys()
    if gensim.__version__.startswith("4.4."):
        assert len(names_of(here)) == 78


def test_the_tests_use_our_class_and_gensim_keeps_its_own() -> None:
    assert _suite.FT_gensim is TFFastText
    assert fasttext.FastText is not TFFastText
