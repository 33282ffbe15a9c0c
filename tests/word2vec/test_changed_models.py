"""Models changed by hand before or while they are trained: tests/data/errors.md, row by row, in other processes."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.changed_models import ChangingCorpus, cases
from support.child_process import environment
from support.contract import SENTENCES, assert_equal_models, assert_finite, learnt_arrays

from gensim_tfw2v import TFWord2Vec

CASES = cases()
NAMES = [f"{case.place} {case.row.code} {case.way}" for case in CASES]


@dataclass
class Outcomes:
    """What came of the changes."""

    errors: dict[int, list[str]] = field(default_factory=dict)
    """Type and message of the error, by the number of the case."""
    ended: dict[int, str] = field(default_factory=dict)
    """How the process ended in the midst of a case, by its number."""


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    """Have a process make all changes, and another one the rest after a change that ends it."""
    found, first = Outcomes(), 0
    while first < len(CASES):
        program = [sys.executable, str(Path(__file__).parents[1] / "support" / "changed_models.py"), str(first)]
        done = subprocess.run(program, env=environment(), capture_output=True, text=True, timeout=600)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
        found.errors |= {number: error for number, *error in lines if error}
        if done.returncode == 0:
            break
        last = lines[-1][0] if lines else first
        found.ended[last] = f"the process ended with {done.returncode}: {done.stderr[-2000:]}"
        first = last + 1
    return found


@pytest.mark.slow
def test_no_change_ends_the_process(outcomes: Outcomes) -> None:
    assert {NAMES[number]: how for number, how in outcomes.ended.items()} == {}


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(CASES)), ids=NAMES)
def test_a_change_gets_the_error_of_the_table(outcomes: Outcomes, number: int) -> None:
    row = CASES[number].row
    assert number in outcomes.errors, outcomes.ended.get(number, "the process has not said what came of it")
    name, message = outcomes.errors[number]
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
