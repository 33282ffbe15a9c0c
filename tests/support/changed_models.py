"""Trains models that were changed by hand, each change of tests/data/errors.md in turn, and says what came of it.

A program of its own: a change that reaches memory which it should not ends the process, and this process only.
`python changed_models.py FIRST` begins with the case of this number, after another process has ended.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np
from gensim.models.callbacks import CallbackAny2Vec

from gensim_tfw2v import TFWord2Vec, local_cluster
from support.contract import SENTENCES, assert_finite
from support.error_table import TableRow, rows_of_tables

# The headings of the tables.
BEFORE, IN_A_PASS = "Models that were changed before a pass", "Models that were changed in the midst of a pass"
DIVERGING = "Training that diverges"
PLACES = ["local 0", "local 1", "cluster 0"]  # and whether it is skip-gram
OTHERS = [["zebra", "okapi", "human"]] * 20


class ChangingCorpus:
    """Sentences whose iterator makes a change half-way."""

    def __init__(self, change: Callable[[], None]) -> None:
        self._change = change

    def __iter__(self) -> Iterator[list[str]]:
        yield from SENTENCES[:75]
        self._change()
        yield from SENTENCES[75:]


class ChangingCallback(CallbackAny2Vec):  # type: ignore[misc]
    """Makes a change when the second epoch begins."""

    def __init__(self, change: Callable[[], None]) -> None:
        self._change = change
        self._epochs = 0

    def on_epoch_begin(self, model: Any) -> None:
        """Make the change in the second epoch."""
        self._epochs += 1
        if self._epochs == 2:
            self._change()


def built_model(cluster: Any, sg: int) -> Any:
    """Return an untrained model with the vocabulary of SENTENCES, for both training methods."""
    model = TFWord2Vec(vector_size=8, min_count=1, workers=1, sample=0, sg=sg, hs=1, negative=5, cluster=cluster)
    model.build_vocab(SENTENCES)
    return model


def change_to(model: Any, code: str) -> Callable[[], None]:
    """Return the function that makes a change."""

    def change() -> None:
        exec(code, {"model": model, "np": np, "nan": float("nan"), "others": OTHERS})

    return change


def train(model: Any, corpus: Any, **arguments: Any) -> tuple[str, str]:
    """Train a model; return the name of the error and its message, or two empty strings."""
    try:
        model.train(corpus, total_examples=len(SENTENCES), epochs=2, **arguments)
    except Exception as error:
        return type(error).__name__, str(error)
    return "", ""


def ways_to_change(row: TableRow) -> list[str]:
    """Return when the change of a row is made."""
    if row.table == IN_A_PASS:
        return ["corpus"]
    is_of_tree = "'point'" in row.code or "'code'" in row.code  # which train() reads once
    return ["before", "callback"] if row.table == BEFORE and not is_of_tree else ["before"]


def outcome(row: TableRow, way: str, cluster: Any, sg: int) -> tuple[str, str]:
    """Return the error's name and message of a training with this change."""
    model = built_model(cluster, sg)
    change = change_to(model, row.code)
    if way == "corpus":
        return train(model, ChangingCorpus(change))
    if way == "callback":
        return train(model, SENTENCES, callbacks=[ChangingCallback(change)])
    change()
    found = train(model, SENTENCES)
    if row.table == DIVERGING:
        assert_finite(model)
    return found


class Case(NamedTuple):
    """A change in one place."""

    place: str
    row: TableRow
    way: str


def cases() -> list[Case]:
    """Return all cases, those of a place after each other."""
    rows = [row for row in rows_of_tables() if row.table in (BEFORE, IN_A_PASS, DIVERGING)]
    return [Case(place, row, way) for place in PLACES for row in rows for way in ways_to_change(row)]


def main() -> None:
    """Print a line of JSON for each case: its number before the change is made, and the outcome as well after it."""
    first, cluster = int(sys.argv[1]), None
    with ExitStack() as stack:
        for number, (place, row, way) in list(enumerate(cases()))[first:]:
            where, sg = place.split()
            if where == "cluster" and cluster is None:
                cluster = stack.enter_context(local_cluster(1, 2))
            print(json.dumps([number]), flush=True)
            print(json.dumps([number, *outcome(row, way, cluster, int(sg))]), flush=True)


if __name__ == "__main__":
    main()
