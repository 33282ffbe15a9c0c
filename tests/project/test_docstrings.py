"""The examples in the docstrings of public names run and print what they show."""

from __future__ import annotations

import doctest
import shutil
from pathlib import Path

import pytest
from gensim.test.utils import datapath

import gensim_tfw2v

WITH_EXAMPLES = [name for name in gensim_tfw2v.__all__ if ">>>" in (getattr(gensim_tfw2v, name).__doc__ or "")]


# Errors, results of functions that have an example, and groups, whose example is on the page of arguments.
WITHOUT_EXAMPLES = {
    *("CheckpointError", "ClusterError", "DivergenceError", "NeighbourIndex", "SearchResult", "__version__"),
    *("Cache", "Checkpoints", "Cluster", "Validation"),
}


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_example_of_a_public_name_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(datapath("lee_background.cor"), tmp_path / "corpus.txt")
    monkeypatch.chdir(tmp_path)
    shown = doctest.DocTestParser().get_doctest(getattr(gensim_tfw2v, name).__doc__, {}, name, None, None)
    report: list[str] = []
    result = doctest.DocTestRunner().run(shown, out=report.append)
    assert result.failed == 0, "".join(report)


def test_public_names_have_an_example() -> None:
    assert set(gensim_tfw2v.__all__) - set(WITH_EXAMPLES) == WITHOUT_EXAMPLES
