"""A valid call of each plain function on a batch as arrays, to be made wrong one argument at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.plain import contexts, rows
from gensim_tfw2v.steps.plain.cbow import train_cbow
from gensim_tfw2v.steps.plain.huffman_paths import train_huffman_paths
from support.batch_cbow import cbow
from support.batch_contexts import some_contexts
from support.batch_even_contexts import some_even_contexts
from support.batch_huffman import huffman_paths
from support.operation_inputs import BATCH, BATCHES, ROWS, Table, normal, numbers_below, some_token_weights

tf = load_tensorflow()

Arguments = dict[str, Any]

SIZE, RUNS, TOKENS, WINDOW, PLACES = 7, 3, 6, 3, 12
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "gather rows": rows.gather_rows,
    "move rows": rows.move_rows,
    "sum contexts": contexts.sum_contexts,
    "move contexts": contexts.move_contexts,
    "sum even contexts": contexts.sum_even_contexts,
    "move even contexts": contexts.move_even_contexts,
    "train CBOW": train_cbow,
    "train Huffman paths of contexts": train_huffman_paths,
    "train Huffman paths of own words": train_huffman_paths,
}
IDS = ("ids", "targets", "nodes")  # of rows: each function has one of these arguments
_LIMITS: Arguments = {"rate": 0.05, "max_step": 0.1, "factors": np.array([1.0, 0.5], np.float32)}


def valid_call(name: str) -> Arguments:
    """Return the arguments of a call that succeeds and, unless it only reads, moves rows. The table is an array."""
    weights = some_token_weights(RUNS, TOKENS)
    found: Arguments
    if name in ("gather rows", "move rows"):
        found = {"ids": numbers_below(ROWS, BATCHES, RUNS, PLACES), "batch": BATCH}
        if name == "move rows":
            found |= {"gradients": normal(RUNS, PLACES, SIZE, seed=1)} | _LIMITS
    elif "contexts" in name and "Huffman" not in name:
        some = some_even_contexts if "even" in name else some_contexts
        found = some(WINDOW, RUNS, TOKENS).arguments()
        if name.startswith("move"):
            found |= {"gradients": normal(RUNS, TOKENS, SIZE, seed=2)} | _LIMITS
    elif name == "train CBOW":
        found = cbow(SIZE, WINDOW, RUNS, TOKENS, token_weights=weights).arguments() | _LIMITS
    else:
        call = huffman_paths(SIZE, name.endswith("of contexts"), WINDOW, RUNS, TOKENS, token_weights=weights)
        found = call.arguments()
    return found | {"table": normal(ROWS, SIZE, seed=5)}


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
        found = FUNCTIONS[name](**arguments | {"table": table.handle}, adagrad=adagrad)
    except tf.errors.OpError as error:
        return [], table.values(), error
    return [np.asarray(output) for output in tf.nest.flatten(found)], table.values(), None
