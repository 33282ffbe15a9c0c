"""The examples in the docstrings of public names run and print what they show."""

from __future__ import annotations

import doctest

import pytest

import gensim_tfw2v

WITH_EXAMPLES = [name for name in gensim_tfw2v.__all__ if ">>>" in (getattr(gensim_tfw2v, name).__doc__ or "")]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_example_of_a_public_name_runs(name: str) -> None:
    shown = doctest.DocTestParser().get_doctest(getattr(gensim_tfw2v, name).__doc__, {}, name, None, None)
    report: list[str] = []
    result = doctest.DocTestRunner().run(shown, out=report.append)
    assert result.failed == 0, "".join(report)


def test_most_public_names_have_an_example() -> None:
    assert {"TFWord2Vec", "build_index", "plan", "register_design", "tune"} <= set(WITH_EXAMPLES)
