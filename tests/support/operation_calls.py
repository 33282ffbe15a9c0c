"""A valid call of each operation as plain arrays, to be made wrong one input at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from support.kernels import operations
from support.operation_cbow import cbow
from support.operation_contexts import some_contexts
from support.operation_even_contexts import some_even_contexts
from support.operation_huffman import huffman_paths
from support.operation_inputs import BATCH, BATCHES, ROWS, Table, normal, numbers_below, some_token_weights
from support.operation_skip_gram import skip_gram

tf = load_tensorflow()

Arguments = dict[str, Any]  # arrays, the values of the table among them

SIZE, RUNS, TOKENS, WINDOW, PLACES, NEGATIVES = 7, 3, 6, 3, 12, 5
_LIMITS: Arguments = {"rate": 0.05, "max_step": 0.1, "factors": [1.0, 0.5]}
_INTEGERS = {
    "ids",
    "rows",
    "batch",
    "left",
    "right",
    "window_rows",
    "shared_negatives",
    "negatives",
    "targets",
    "words",
}
_INTEGERS |= {"nodes", "codes", "offsets", "hot_nodes"}
_BOOLEANS = {"mask_hits", "measured", "frozen", "every_context", "mean"}

OPERATIONS = {
    "read rows": "tfw2v_read_rows",
    "write rows": "tfw2v_write_rows",
    "add rows": "tfw2v_add_rows",
    "gather rows": "tfw2v_gather_rows",
    "move rows": "tfw2v_move_rows",
    "sum contexts": "tfw2v_sum_contexts",
    "move contexts": "tfw2v_move_contexts",
    "sum even contexts": "tfw2v_sum_even_contexts",
    "move even contexts": "tfw2v_move_even_contexts",
    "train skip-gram": "tfw2v_train_skip_gram",
    "train CBOW": "tfw2v_train_cbow",
    "train Huffman paths of contexts": "tfw2v_train_huffman_paths",
    "train Huffman paths of own words": "tfw2v_train_huffman_paths",
}


def valid_call(name: str) -> Arguments:
    """Return the arguments of a call that succeeds and, unless it only reads, moves rows."""
    rows = {"rows": [9, 0, 9, 4]}
    ids = {"ids": numbers_below(ROWS, BATCHES, RUNS, PLACES), "batch": BATCH}
    found: Arguments
    if name in ("read rows", "write rows", "add rows"):
        values = {"write rows": "values", "add rows": "changes"}.get(name)
        found = rows if values is None else rows | {values: normal(4, SIZE, seed=1)}
    elif name == "gather rows":
        found = ids
    elif name == "move rows":
        found = ids | {"gradients": normal(RUNS, PLACES, SIZE, seed=1)} | _LIMITS
    elif name in ("sum contexts", "move contexts", "sum even contexts", "move even contexts"):
        contexts = some_even_contexts(WINDOW, RUNS, TOKENS) if "even" in name else some_contexts(WINDOW, RUNS, TOKENS)
        found = contexts.arguments()
        if name.startswith("move"):
            found |= {"gradients": normal(RUNS, TOKENS, SIZE, seed=2)} | _LIMITS
    elif name == "train skip-gram":
        found = skip_gram(SIZE, WINDOW, RUNS, TOKENS, NEGATIVES).arguments() | _LIMITS
    elif name == "train CBOW":
        weights = some_token_weights(RUNS, TOKENS)
        found = cbow(SIZE, WINDOW, RUNS, TOKENS, NEGATIVES, token_weights=weights).arguments() | _LIMITS
    else:
        every_context = name == "train Huffman paths of contexts"
        weights = some_token_weights(RUNS, TOKENS)
        call = huffman_paths(SIZE, every_context, WINDOW, RUNS, TOKENS, hot_nodes=4, token_weights=weights)
        found = call.arguments()
        # The last place that is trained has the word with the longest path.
        found["words"][BATCH, -1, -1 if every_context else -1 - WINDOW] = 1
        found["left"][BATCH, -1, -1] = 1
    found["table"] = normal(ROWS, SIZE, seed=5)
    return {input_: np.array(value, type_of(input_)) for input_, value in found.items()}


def type_of(input_: str) -> type[Any]:
    """Return the type of an input's numbers."""
    return np.int32 if input_ in _INTEGERS else np.bool_ if input_ in _BOOLEANS else np.float32


def with_states(arguments: Arguments, state: float = 1.0) -> Arguments:
    """Return the arguments with Adagrad's states, all of them equal, behind the rows of the table."""
    states = np.full((len(arguments["table"]), 1), state, np.float32)
    return arguments | {"table": np.concatenate([arguments["table"], states], 1)}


def run_call(
    name: str, arguments: Arguments, adagrad: bool = False
) -> tuple[list[np.ndarray], np.ndarray, Exception | None]:
    """Return the outputs of an operation, the table after it, and the error if TensorFlow has reported one."""
    table = Table(arguments["table"])
    attributes: dict[str, Any] = {"T": tf.float32} if name in ("read rows", "gather rows") else {}
    if adagrad:
        attributes["adagrad"] = True
    try:
        found = getattr(operations(), OPERATIONS[name])(**arguments | {"table": table.memory} | attributes)
    except tf.errors.OpError as error:
        return [], table.values(), error
    return [np.asarray(output) for output in tf.nest.flatten(found)], table.values(), None
