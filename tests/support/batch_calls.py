"""A valid call of each plain function on a batch as arrays, to be made wrong one argument at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.plain.table import StepLimits, StepTable
from support.batch_cbow import cbow
from support.batch_contexts import some_contexts
from support.batch_even_contexts import some_even_contexts
from support.batch_huffman import huffman_paths
from support.operation_inputs import BATCH, BATCHES, ROWS, Table, normal, numbers_below, some_token_weights

tf = load_tensorflow()

Arguments = dict[str, Any]

SIZE, RUNS, TOKENS, WINDOW, PLACES = 7, 3, 6, 3, 12
IDS = ("ids", "targets", "nodes")  # of rows: each function has one of these arguments
_LIMITS = StepLimits(0.05, 0.1, np.array([1.0, 0.5], np.float32))
_WEIGHTS = some_token_weights(RUNS, TOKENS)
_CBOW = cbow(SIZE, WINDOW, RUNS, TOKENS, token_weights=_WEIGHTS, **_LIMITS._asdict())
_IDS, _GRADIENTS = numbers_below(ROWS, BATCHES, RUNS, PLACES)[BATCH], normal(RUNS, PLACES, SIZE, seed=1)


def _of_contexts(some: Callable[..., Any]) -> dict[str, tuple[Callable[..., Any], Arguments]]:
    """Return the functions of contexts, with arguments."""
    found, name = some(WINDOW, RUNS, TOKENS), "even contexts" if some is some_even_contexts else "contexts"
    given, gradients = found.given(), normal(RUNS, TOKENS, SIZE, seed=2)

    def sums(table: StepTable, ids: np.ndarray) -> Any:
        return given._replace(ids=ids).sum(table)

    def moves(table: StepTable, ids: np.ndarray, gradients: np.ndarray) -> Any:
        return given._replace(ids=ids).move(table, gradients, _LIMITS)

    return {
        f"sum {name}": (sums, {"ids": given.ids}),
        f"move {name}": (moves, {"ids": given.ids, "gradients": gradients}),
    }


def _of_paths(every_context: bool) -> tuple[Callable[..., Any], Arguments]:
    """Return the function that trains Huffman paths, with arguments."""
    call = huffman_paths(SIZE, every_context, WINDOW, RUNS, TOKENS, token_weights=_WEIGHTS)

    def train(table: StepTable, nodes: np.ndarray, hidden: np.ndarray) -> Any:
        return call._replace(adagrad=table.have_states, nodes=nodes, hidden=hidden).train(table.handle)

    return train, {"nodes": call.nodes, "hidden": call.hidden}


_CALLS: dict[str, tuple[Callable[..., Any], Arguments]] = {
    "gather rows": (lambda table, ids: table.vectors(ids), {"ids": _IDS}),
    "move rows": (
        lambda table, ids, gradients: table.move(ids, gradients, _LIMITS),
        {"ids": _IDS, "gradients": _GRADIENTS},
    ),
    **_of_contexts(some_contexts),
    **_of_contexts(some_even_contexts),
    "train CBOW": (
        lambda table, **own: _CBOW._replace(adagrad=table.have_states, **own).train(table.handle),
        {"targets": _CBOW.targets, "hidden": _CBOW.hidden},
    ),
    "train Huffman paths of contexts": _of_paths(every_context=True),
    "train Huffman paths of own words": _of_paths(every_context=False),
}
FUNCTIONS = list(_CALLS)


def valid_call(name: str) -> Arguments:
    """Return the arguments of a call that succeeds and, unless it only reads, moves rows. The table is an array."""
    return _CALLS[name][1] | {"table": normal(ROWS, SIZE, seed=5)}


def with_states(arguments: Arguments) -> Arguments:
    """Return the arguments with Adagrad's states, all of them 1, behind the rows of the table."""
    states = np.ones((len(arguments["table"]), 1), np.float32)
    return arguments | {"table": np.concatenate([arguments["table"], states], 1)}


def run_call(
    name: str, arguments: Arguments, adagrad: bool = False
) -> tuple[list[np.ndarray], np.ndarray, Exception | None]:
    """Return what a function returns, the table after it, and the error if TensorFlow has reported one."""
    table = Table(arguments["table"])
    try:
        found = _CALLS[name][0](**arguments | {"table": StepTable(table.handle, adagrad)})
    except tf.errors.OpError as error:
        return [], table.values(), error
    return [np.asarray(output) for output in tf.nest.flatten(found)], table.values(), None
