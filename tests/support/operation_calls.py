"""A valid call of each operation as plain arrays, to be made wrong one input at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gensim_tfw2v.operations import operations
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from support.operation_inputs import Table, normal, numbers_below, windows_of

tf = load_tensorflow()

Arguments = dict[str, Any]  # arrays, those of tables among them
TABLES = ("table", "inputs", "outputs", "nodes")


class Variant(NamedTuple):
    """An operation with attributes."""

    operation: str
    attributes: tuple[str, ...] = ()  # those that are set

    @property
    def trains(self) -> bool:
        """Whether the operation trains a block."""
        return "train" in self.operation

    @property
    def skip_gram(self) -> bool:
        """Whether the operation trains skip-gram."""
        return self.operation == "train_skip_gram"


NEGATIVES, TREE = ("negative_sampling", "mask_hits"), ("hierarchical_softmax",)
VARIANTS = {
    "read rows": Variant("read_rows"),
    "write rows": Variant("write_rows"),
    "add rows": Variant("add_rows"),
    "skip-gram negatives": Variant("train_skip_gram", (*NEGATIVES, "weighted")),
    "skip-gram tree": Variant("train_skip_gram", (*TREE, "weighted")),
    "skip-gram both": Variant("train_skip_gram", (*NEGATIVES, *TREE, "weighted")),
    "CBOW negatives": Variant("train_cbow", (*NEGATIVES, "weighted", "mean_context")),
    "CBOW tree": Variant("train_cbow", (*TREE, "weighted")),
    "CBOW both": Variant("train_cbow", (*NEGATIVES, *TREE, "weighted", "even_contexts")),
    "skip-gram bags": Variant("train_skip_gram", (*NEGATIVES, "weighted", "bags")),
    "CBOW bags and documents": Variant("train_cbow", (*NEGATIVES, "weighted", "even_contexts", "bags", "documents")),
}
TRAINING = [name for name, variant in VARIANTS.items() if variant.trains]
WITH_NEGATIVES = [name for name in TRAINING if "negative_sampling" in VARIANTS[name].attributes]
WITH_TREE = [name for name in TRAINING if "hierarchical_softmax" in VARIANTS[name].attributes]

SIZE, BATCHES, RUNS, TOKENS, WINDOW, NEGATIVE_COUNT = 7, 4, 3, 5, 3, 5
FIRST, END = 1, 3  # the span of batches that calls train
PLACES = TOKENS + 2 * WINDOW
ROWS = {"table": 11, "inputs": 11, "outputs": 12, "nodes": 9}
PATH_LENGTHS = [0, 9, 1, 3, 0, 6]  # of words, the last one among them is that of word 5
FLOATS = {*TABLES, "values", "changes", "weights", "learning_rates", "max_step", "lock_factors", "negative"}
FLOATS |= {"radius_chance"}

_NONE = np.zeros((0, 0), np.float32)
_NO_IDS = np.zeros((0, 0, 0), np.int32)
_NO_STEPS = np.zeros(0, np.int32)
UNUSED: Arguments = {
    "outputs": _NONE,
    "nodes": _NONE,
    "candidates": _NO_IDS,
    "targets": _NO_IDS,
    "words": _NO_IDS,
    "path_nodes": _NO_STEPS,
    "codes": _NO_STEPS,
    "offsets": _NO_STEPS,
    "bag_members": _NO_STEPS,
    "bag_offsets": _NO_STEPS,
    "token_documents": _NO_IDS,
    "weights": np.zeros((0, 0, 0), np.float32),
}


def valid_call(name: str) -> Arguments:
    """Return the inputs that a call uses. It succeeds and, unless it only reads, moves rows."""
    variant = VARIANTS[name]
    if variant.trains:
        return _of_block(variant)
    found: Arguments = {"table": normal(ROWS["table"], SIZE, seed=5), "rows": np.array([9, 0, 9, 4], np.int32)}
    values = {"write rows": "values", "add rows": "changes"}.get(name)
    return found if values is None else found | {values: normal(4, SIZE, seed=1)}


def _of_block(variant: Variant) -> Arguments:
    windows = windows_of(RUNS, TOKENS, WINDOW, batches=BATCHES)
    found: Arguments = {
        "inputs": normal(ROWS["inputs"], SIZE, seed=5),
        "left": windows.left,
        "right": windows.right,
        "input_ids": numbers_below(ROWS["inputs"], BATCHES, RUNS, TOKENS if variant.skip_gram else PLACES),
        "weights": np.random.default_rng(0).uniform(0, 2, (BATCHES, RUNS, TOKENS)).astype(np.float32),
        "window": np.int32(WINDOW),
        "learning_rates": np.linspace(0.05, 0.02, BATCHES, dtype=np.float32),
        "max_step": np.float32(0.1),
        "lock_factors": np.array([1.0, 0.5], np.float32),
        "negative": np.float32(5),
        "shared_negatives": np.int32(NEGATIVE_COUNT),
        "measured": np.ones(BATCHES, bool),
        "radius_chance": np.float32(1 / WINDOW),
        "span": np.array([FIRST, END], np.int32),
    }
    if "even_contexts" in variant.attributes:
        found["radius_chance"] = np.float32(0)
    if "bags" in variant.attributes:
        sizes = np.resize([2, 0, 1, 4], ROWS["inputs"])
        found["bag_members"] = numbers_below(ROWS["inputs"], int(sizes.sum()), seed=4)
        found["bag_offsets"] = np.cumsum([0, *sizes]).astype(np.int32)
    if "documents" in variant.attributes:
        found["token_documents"] = numbers_below(ROWS["inputs"] + 1, BATCHES, RUNS, TOKENS, seed=5) - 1
    if "negative_sampling" in variant.attributes:
        found["outputs"] = normal(ROWS["outputs"], SIZE, seed=6)
        candidates = NEGATIVE_COUNT + (PLACES if variant.skip_gram else 0)
        found["candidates"] = numbers_below(ROWS["outputs"], BATCHES, RUNS, candidates, seed=1)
        if not variant.skip_gram:
            found["targets"] = numbers_below(ROWS["outputs"], BATCHES, RUNS, TOKENS, seed=2)
    if "hierarchical_softmax" in variant.attributes:
        rng = np.random.default_rng(3)
        paths = [rng.permutation(ROWS["nodes"])[:length] for length in PATH_LENGTHS]
        found["nodes"] = normal(ROWS["nodes"], SIZE, seed=7)
        found["words"] = numbers_below(len(paths), BATCHES, RUNS, PLACES, seed=3)
        found["path_nodes"] = np.concatenate(paths).astype(np.int32)
        found["codes"] = rng.integers(0, 2, len(found["path_nodes"])).astype(np.int32)
        found["offsets"] = np.cumsum([0, *PATH_LENGTHS]).astype(np.int32)
    return found


def type_of(input_: str) -> type[Any]:
    """Return the type of an input's numbers."""
    return np.float32 if input_ in FLOATS else np.bool_ if input_ == "measured" else np.int32


def with_states(arguments: Arguments, state: float = 1.0) -> Arguments:
    """Return the arguments with Adagrad's states, all of them equal, behind the rows of the tables."""
    tables = {name: arguments[name] for name in TABLES if name in arguments}
    states = {name: np.full((len(table), 1), state, np.float32) for name, table in tables.items()}
    return arguments | {name: np.concatenate([table, states[name]], 1) for name, table in tables.items()}


class Outcome(NamedTuple):
    """What a call has returned, the tables after it, and the error if TensorFlow has reported one."""

    output: np.ndarray | None
    tables: dict[str, np.ndarray]
    error: Exception | None


def run_call(name: str, arguments: Arguments, **attributes: bool) -> Outcome:
    """Run an operation on copies of the tables."""
    variant = VARIANTS[name]
    return run_operation(variant.operation, arguments, dict.fromkeys(variant.attributes, True) | attributes)


def run_operation(operation: str, arguments: Arguments, attributes: dict[str, Any]) -> Outcome:
    """Run an operation on copies of the tables, with nothing for inputs that are not given."""
    everything = UNUSED | arguments if operation.startswith("train") else arguments
    tables = {name: Table(everything[name]) for name in TABLES if name in everything}
    memory = {name: table.memory for name, table in tables.items()}
    if operation == "read_rows":
        attributes = {"T": tf.float32} | attributes
    try:
        found = getattr(operations(), f"tfw2v_{operation}")(**everything | memory, **attributes)
    except tf.errors.OpError as error:
        return Outcome(None, _values_of(tables, arguments), error)
    return Outcome(found.numpy(), _values_of(tables, arguments), None)


def _values_of(tables: dict[str, Table], arguments: Arguments) -> dict[str, np.ndarray]:
    return {name: table.values() for name, table in tables.items() if name in arguments}


def are_unchanged(outcome: Outcome, arguments: Arguments) -> bool:
    """Return whether every bit of the tables is as it was."""
    return all(table.tobytes() == arguments[name].tobytes() for name, table in outcome.tables.items())


def are_finite(outcome: Outcome) -> bool:
    """Return whether all numbers of the tables are finite."""
    return all(bool(np.isfinite(table).all()) for table in outcome.tables.values())


def check_refused(name: str, arguments: Arguments, *says: str, **attributes: bool) -> None:
    """Check that a call fails with a message that says all this, and has changed nothing."""
    outcome = run_call(name, arguments, **attributes)
    assert isinstance(outcome.error, tf.errors.InvalidArgumentError), outcome.error
    assert outcome.output is None
    assert are_unchanged(outcome, arguments)
    for part in says:
        assert part in outcome.error.message
