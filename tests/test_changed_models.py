"""Models changed by hand before or while they are trained: docs/errors.md, row by row, in other processes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from changed_models import ChangingCorpus, ways_to_change
from child_process import environment
from contract import SENTENCES, assert_equal_models, assert_finite, learnt_arrays
from error_table import rows_of_tables

from gensim_tfw2v import TFWord2Vec

ROWS = [(number, row) for number, row in enumerate(rows_of_tables()) if row.gensim is None]
CASES = [(number, way) for number, row in ROWS for way in ways_to_change(row)]
NAMES = [f"{row.code} {way}" for number, row in ROWS for way in ways_to_change(row)]
PLACES = ["local 0", "local 1", "cluster 0"]  # and whether it is skip-gram


@dataclass(frozen=True)
class Child:
    """What the process that makes all changes has said, and how it has ended."""

    lines: list[list[Any]]
    code: int
    errors: str


@pytest.fixture(scope="module", params=PLACES)
def child(request: pytest.FixtureRequest) -> Iterator[Child]:
    """Run the process in one place."""
    program = [sys.executable, str(Path(__file__).with_name("changed_models.py")), *request.param.split()]
    ended = subprocess.run(program, env=environment(), capture_output=True, text=True, timeout=600)
    lines = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("[")]
    yield Child(lines, ended.returncode, ended.stderr)


def test_no_change_ends_the_process(child: Child) -> None:
    assert child.code == 0, f"{child.lines[-1:]}: {child.errors[-2000:]}"


@pytest.mark.parametrize(("number", "way"), CASES, ids=NAMES)
def test_a_change_gets_the_error_of_the_table(child: Child, number: int, way: str) -> None:
    row = dict(ROWS)[number]
    found = [line[2:] for line in child.lines if line[:2] == [number, way] and len(line) > 2]
    assert found, f"the process ended with {child.code} after {child.lines[-1:]}"
    ((name, message),) = found
    assert name == row.error.__name__, message
    assert row.missing_in(message) == [], message


def built(**arguments: Any) -> Any:
    """Return an untrained model with the vocabulary of SENTENCES."""
    model = TFWord2Vec(vector_size=8, min_count=1, workers=1, **arguments)
    model.build_vocab(SENTENCES)
    return model


def test_a_refused_model_keeps_its_vectors() -> None:
    model, untouched = built(), built()
    model.cum_table = model.cum_table[::-1]
    with pytest.raises(RuntimeError, match="cum_table"):
        model.train(SENTENCES, total_examples=150, epochs=1)
    assert_equal_models(model, untouched)


@pytest.mark.parametrize("change", ["add_vector", "build_vocab"])
def test_words_that_come_in_a_pass_leave_what_was_learnt(change: str) -> None:
    model = built(batch_words=100)
    before = {name: array.copy() for name, array in learnt_arrays(model).items()}
    corpus = ChangingCorpus(
        lambda: (
            model.wv.add_vector("new", np.ones(8, np.float32))
            if change == "add_vector"
            else model.build_vocab([["zebra"]], update=True)
        )
    )
    passes = [SENTENCES, corpus]
    epochs = type("Passes", (), {"__iter__": lambda self: iter(passes.pop(0))})()
    model.cache_memory = 0
    with pytest.raises(RuntimeError, match=r"had 11 words .* has 12 now"):
        model.train(epochs, total_examples=150, epochs=2)
    assert (model.wv.vectors[:11] != before["vectors"]).any()
    assert (model.syn1neg[:11] != before["syn1neg"]).any()
    assert_finite(model)


def test_two_words_may_have_the_same_vector() -> None:
    model = built(sample=0)
    model.wv.key_to_index["computers"] = model.wv.key_to_index["computer"]
    corpus = [["computers" if word == "computer" else word for word in sentence] for sentence in SENTENCES]
    assert model.train(corpus, total_examples=150, epochs=1) == (600, 600)


def test_words_may_be_hidden_from_training() -> None:
    model = built(sample=0)
    del model.wv.key_to_index["human"]
    assert model.train(SENTENCES, total_examples=150, epochs=1) == (540, 600)
