"""The tutorial notebook runs from top to bottom, and says what it is committed with."""

from __future__ import annotations

import re
from typing import Any

import execute_notebook
import nbformat
import pytest


def printed(notebook: Any) -> str:
    """Return all that a notebook's cells print."""
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", []))
    return "".join(output.text for output in outputs if output.output_type == "stream")


def pictures(notebook: Any) -> int:
    """Return how many pictures a notebook's cells show."""
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", []))
    return sum("image/png" in output.get("data", {}) for output in outputs)


def areas(notebook: Any) -> dict[str, float]:
    """Return the areas under the ROC curves that a notebook prints, by classifier and kind of vectors."""
    found = re.findall(r"^(.+?) area under the curve ([\d.]+)", printed(notebook), re.MULTILINE)
    return {" ".join(name.split()): float(area) for name, area in found}


@pytest.fixture(scope="module")
def executed() -> Any:
    """Return the notebook, executed afresh."""
    return execute_notebook.executed()


def test_the_committed_notebook_has_its_outputs() -> None:
    committed = nbformat.read(execute_notebook.NOTEBOOK, as_version=4)
    assert pictures(committed) == 3
    assert len(areas(committed)) == 5
    assert "Traceback" not in printed(committed)


@pytest.mark.slow
def test_the_notebook_runs_and_draws(executed: Any) -> None:
    assert pictures(executed) == 3


@pytest.mark.slow
def test_strangers_are_told_better_than_by_guessing_with_either_classs_vectors(executed: Any) -> None:
    found = areas(executed)
    for vectors in ("TFWord2Vec", "gensim"):
        assert found[f"one-class SVM {vectors}"] > 0.65
        assert found[f"isolation forest {vectors}"] > 0.53
    assert found["one-class SVM TFWord2Vec"] == pytest.approx(found["one-class SVM gensim"], abs=0.12)


@pytest.mark.slow
def test_vectors_of_a_local_cluster_tell_strangers_as_well(executed: Any) -> None:
    found = areas(executed)
    assert found["one-class SVM cluster"] == pytest.approx(found["one-class SVM TFWord2Vec"], abs=0.12)


@pytest.mark.slow
def test_neighbours_of_the_probe_words_come_from_the_log(executed: Any) -> None:
    assert re.search(r"^\| moon \|.*lunar", printed(executed), re.MULTILINE)
