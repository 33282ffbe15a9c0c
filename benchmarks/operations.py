"""Compares ways to do what a step does most: `python benchmarks/operations.py --help`."""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from gensim_tfw2v.operations import operations
from gensim_tfw2v.runtime.processor import multiplies_bfloat16
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

tf = load_tensorflow()

VOCABULARY = 50_000
ROWS = 4_096  # gradients of a batch
# Words of a run, and candidates that each of them is trained with.
RUNS = ((16, 32), (16, 40), (16, 48), (16, 50), (22, 48), (32, 48), (32, 66), (64, 112))
BATCH_WORDS, WINDOW = 1_024, 5
CBOW_RUN_WORDS, CBOW_RUN_NEGATIVES = 32, 16
CONTEXT_WINDOWS = (2, 5, 6, 8, 10, 20)
RATE, MAX_STEP = 0.025, 0.5


def word_ids(rng: np.random.Generator) -> np.ndarray:
    """Return ids as a subsampled corpus has them: frequent ones several times, most once or twice."""
    shares = 1.0 / np.sqrt(np.arange(1, VOCABULARY + 1) + 20.0) ** 1.6
    return rng.choice(VOCABULARY, ROWS, p=shares / shares.sum()).astype(np.int32)


def nanoseconds_a_row(operation: Callable[[], object], rows: int, rounds: int) -> float:
    """Return the best time of `operation` divided by `rows`."""

    def run() -> object:
        result = operation()
        return result if isinstance(result, tf.Tensor) else None  # a variable returned would be read whole

    graph = tf.function(run, autograph=False)
    graph()
    best = np.inf
    for _ in range(rounds):
        began = time.perf_counter()
        graph()
        best = min(best, time.perf_counter() - began)
    return best / rows * 1e9


def compare_rows(vector_size: int, rounds: int) -> None:
    """Print a line for each operation."""
    rng = np.random.default_rng(0)
    ids = word_ids(rng)
    unique, segment = np.unique(ids, return_inverse=True)
    order = np.argsort(segment, kind="stable")
    in_order, sorted_segment = tf.constant(order), tf.constant(segment[order])
    gradients = tf.constant(rng.normal(size=(ROWS, vector_size)).astype(np.float32))
    table = tf.Variable(tf.zeros([VOCABULARY, vector_size]))
    other = tf.Variable(tf.raw_ops.DeepCopy(x=tf.zeros([VOCABULARY, vector_size])))  # whose rows are moved in place

    def memory() -> tf.Tensor:
        return tf.raw_ops.ReadVariableOp(resource=other.handle, dtype=tf.float32)

    def clipped(sums: tf.Tensor) -> tf.Tensor:
        lengths = tf.raw_ops.EuclideanNorm(input=sums, axis=1, keep_dims=True)
        return sums * tf.minimum(RATE, tf.math.divide_no_nan(MAX_STEP, lengths))

    batch = {"ids": ids[None, None], "batch": 0}
    fetches = {
        "Tfw2vGatherRows (used)": lambda: operations().tfw2v_gather_rows(table=memory(), **batch, T=tf.bfloat16),
        "gather + cast": lambda: tf.cast(tf.gather(table, ids), tf.bfloat16),
    }
    moves = {
        "Tfw2vMoveRows (used)": lambda: operations().tfw2v_move_rows(
            table=memory(), **batch, gradients=gradients[None], rate=RATE, max_step=MAX_STEP, factors=tf.zeros([0])
        ),
        "gather + segment_sum + scatter_update": lambda: table.scatter_update(
            tf.IndexedSlices(
                tf.gather(table, unique) - clipped(tf.math.segment_sum(tf.gather(gradients, in_order), sorted_segment)),
                unique,
            )
        ),
        "unsorted_segment_sum + scatter_sub": lambda: table.scatter_sub(
            tf.IndexedSlices(clipped(tf.math.unsorted_segment_sum(gradients, segment, len(unique))), unique)
        ),
    }
    print(f"vector size {vector_size}: {ROWS} gradients of {len(unique)} distinct rows")
    for heading, choices in (("fetch", fetches), ("move", moves)):
        for name, operation in choices.items():
            print(f"  {heading:5}  {nanoseconds_a_row(operation, ROWS, rounds):7.1f} ns a gradient  {name}")


def compare_negatives(vector_size: int, rounds: int) -> None:
    """Print a line for each way to train CBOW's hidden vectors with their runs' negatives."""
    rng = np.random.default_rng(0)
    runs = BATCH_WORDS // CBOW_RUN_WORDS
    negatives = word_ids(rng)[None, : runs * CBOW_RUN_NEGATIVES].reshape(1, runs, CBOW_RUN_NEGATIVES)
    words = word_ids(rng)[None, :BATCH_WORDS].reshape(1, runs, CBOW_RUN_WORDS)
    reach = np.ones_like(words)
    hidden, gradients = rng.normal(size=(2, runs, CBOW_RUN_WORDS, vector_size)).astype(np.float32)
    table = tf.Variable(tf.raw_ops.DeepCopy(x=tf.zeros([VOCABULARY, vector_size])))
    negative = 5.0
    limits = {"rate": RATE, "max_step": MAX_STEP, "factors": tf.zeros([0])}

    def memory() -> tf.Tensor:
        return tf.raw_ops.ReadVariableOp(resource=table.handle, dtype=tf.float32)

    def by_one_operation() -> tf.Tensor:
        return operations().tfw2v_train_cbow(
            table=memory(),
            hidden=hidden,
            negatives=negatives,
            targets=words,
            left=reach,
            right=reach,
            batch=0,
            negative=negative,
            mask_hits=True,
            frozen=False,
            token_weights=tf.zeros([0]),
            measured=False,
            **limits,
        )[1]

    def by_products(number_type: tf.DType) -> tf.Tensor:
        rows = operations().tfw2v_gather_rows(table=memory(), ids=negatives, batch=0, T=number_type)
        vectors = tf.cast(hidden, number_type)
        score = tf.cast(tf.matmul(vectors, rows, transpose_b=True), tf.float32)
        others = tf.cast(words[0, :, :, None] != negatives[0, :, None, :], tf.float32)
        score_gradient = tf.cast(negative / CBOW_RUN_NEGATIVES * others * tf.sigmoid(score), number_type)
        of_rows = tf.matmul(score_gradient, vectors, transpose_a=True)
        moved = operations().tfw2v_move_rows(table=memory(), ids=negatives, batch=0, gradients=of_rows, **limits)
        with tf.control_dependencies([moved]):
            return gradients + tf.cast(tf.matmul(score_gradient, rows), tf.float32)

    choices = {
        "Tfw2vTrainCbow (used)": by_one_operation,
        "products of float32": lambda: by_products(tf.float32),
        "products of bfloat16": lambda: by_products(tf.bfloat16),
    }
    print(f"  {CBOW_RUN_NEGATIVES} negatives for runs of {CBOW_RUN_WORDS} words")
    for name, operation in choices.items():
        print(f"  negatives  {nanoseconds_a_row(operation, BATCH_WORDS, rounds):7.1f} ns a word  {name}")


def compare_contexts(vector_size: int, rounds: int) -> None:
    """Print a line for each window: adding CBOW's contexts, and moving them, one by one and by running sums."""
    rng = np.random.default_rng(0)
    runs, words = BATCH_WORDS // CBOW_RUN_WORDS, CBOW_RUN_WORDS
    gradients = rng.normal(size=(runs, words, vector_size)).astype(np.float32)
    table = tf.Variable(tf.raw_ops.DeepCopy(x=tf.zeros([VOCABULARY, vector_size])))
    limits = {"rate": RATE, "max_step": MAX_STEP, "factors": tf.zeros([0])}
    for window in CONTEXT_WINDOWS:
        places = words + 2 * window
        radii = rng.integers(1, window + 1, (1, runs, words)).astype(np.int32)
        batch = {
            "ids": np.resize(word_ids(rng), (1, runs, places)),
            "left": radii,
            "right": radii,
            "batch": 0,
        }
        rows = ((radii[0] * (window + 1) + radii[0]) * words + np.arange(words)).astype(np.int32)
        one_by_one = batch | {"window_rows": rows, "weights": tf.ones([(window + 1) ** 2 * words, places])}
        even = batch | {"mean": True}

        def run(total: Callable[..., tf.Tensor], move: Callable[..., tf.Tensor], inputs: dict[str, Any]) -> tf.Tensor:
            memory = tf.raw_ops.ReadVariableOp(resource=table.handle, dtype=tf.float32)
            hidden = total(table=memory, **inputs)
            with tf.control_dependencies([hidden]):
                return move(table=memory, **inputs, gradients=gradients, **limits)

        each = functools.partial(run, operations().tfw2v_sum_contexts, operations().tfw2v_move_contexts, one_by_one)
        sums = functools.partial(run, operations().tfw2v_sum_even_contexts, operations().tfw2v_move_even_contexts, even)
        of_each, of_sums = (nanoseconds_a_row(way, BATCH_WORDS, rounds) for way in (each, sums))
        shown = f"{of_each:6.0f} one by one, {of_sums:6.0f} by running sums"
        print(f"  contexts within {window:2} words: ns a word {shown}")


def compare_products(vector_size: int, rounds: int) -> None:
    """Print a line for each shape of a run: its three products by either type, and the operation that does all."""
    for words, candidates in RUNS:
        runs = BATCH_WORDS // words
        nanoseconds = {
            name: sum(nanoseconds_a_row(product, runs * words, rounds) for product in products)
            for name, products in products_of(runs, words, candidates, vector_size).items()
        }
        shown = ", ".join(f"{value:6.0f} in {name}" for name, value in nanoseconds.items())
        print(f"  products of runs of {words:3} words with {candidates:3}: ns a word {shown}")


def products_of(runs: int, words: int, candidates: int, vector_size: int) -> dict[str, list[Callable[[], object]]]:
    """Return scores, the hidden vectors' gradients and the candidates', by the type of numbers they are computed in."""
    hidden = tf.random.stateless_normal([runs, words, vector_size], (1, 1))
    rows = tf.random.stateless_normal([runs, candidates, vector_size], (1, 2))
    gradient = tf.random.stateless_normal([runs, words, candidates], (1, 3))

    fast = multiplies_bfloat16()

    def bfloat16_product(left: tf.Tensor, right: tf.Tensor, **transposed: bool) -> tf.Tensor:
        product = tf.matmul(tf.cast(left, tf.bfloat16), tf.cast(right, tf.bfloat16), **transposed)
        return tf.cast(product, tf.float32)

    return {
        name: [
            lambda multiply=multiply: multiply(hidden, rows, transpose_b=True),
            lambda multiply=multiply: multiply(gradient, rows),
            lambda multiply=multiply: multiply(gradient, hidden, transpose_a=True),
        ]
        for name, multiply in (("float32", tf.matmul), (f"bfloat16{' (used)' * fast}", bfloat16_product))
    } | {f"Tfw2vTrainSkipGram{' (used)' * (not fast)}": [skip_gram(hidden, candidates)]}


def skip_gram(hidden: tf.Tensor, candidates: int) -> Callable[[], object]:
    """Return the operation that does all three for skip-gram, and fetches and moves rows: with whole windows."""
    runs, words, vector_size = hidden.shape
    places = words + 2 * WINDOW
    distance = np.arange(places) - np.arange(words)[:, None] - WINDOW
    weights = np.ones((words, candidates), np.float32)
    weights[:, :places] = (np.abs(distance) <= WINDOW) & (distance != 0)
    table = tf.Variable(tf.raw_ops.DeepCopy(x=tf.zeros([VOCABULARY, vector_size])))
    ids = np.resize(word_ids(np.random.default_rng(0)), (1, runs, candidates))
    reach = np.full((1, runs, words), WINDOW, np.int32)
    return lambda: operations().tfw2v_train_skip_gram(
        table=tf.raw_ops.ReadVariableOp(resource=table.handle, dtype=tf.float32),
        hidden=hidden,
        ids=ids,
        left=reach,
        right=reach,
        batch=0,
        window_rows=np.resize(np.arange(words, dtype=np.int32), (runs, words)),
        weights=weights,
        shared_negatives=candidates - places,
        negative=5.0,
        mask_hits=False,
        frozen=False,
        measured=False,
        rate=RATE,
        max_step=MAX_STEP,
        factors=tf.zeros([0]),
    )[1]


def main(argv: list[str] | None = None) -> int:
    """Print the comparison; the exit status is 0."""
    parser = argparse.ArgumentParser(
        description="Compares ways to multiply small matrices, to fetch rows, to sum gradients by row and move them, "
        "to train hidden vectors with negatives and to add contexts, on one thread. What is marked as used is what "
        "gensim_tfw2v does."
    )
    parser.add_argument("--vector-size", type=int, nargs="+", default=[100, 300], metavar="N", help="default: 100 300")
    parser.add_argument("--rounds", type=int, default=200, metavar="N", help="the best of so many (default: 200)")
    arguments = parser.parse_args(argv)
    for vector_size in arguments.vector_size:
        compare_rows(vector_size, arguments.rounds)
        compare_products(vector_size, arguments.rounds)
        compare_negatives(vector_size, arguments.rounds)
        compare_contexts(vector_size, arguments.rounds)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
