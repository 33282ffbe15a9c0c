"""Compares ways to do what a step does most: `python benchmarks/operations.py --help`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from gensim_tfw2v.segments import sort_into_segments

from gensim_tfw2v.processor import multiplies_bfloat16
from gensim_tfw2v.tensorflow_runtime import load_tensorflow

tf = load_tensorflow()

VOCABULARY = 50_000
ROWS = 4_096  # gradients of a batch
# Words of a run, and words that each of them is compared with.
RUNS = ((16, 32), (16, 40), (16, 48), (16, 50), (22, 48), (32, 48), (32, 66), (64, 112))
BATCH_WORDS = 1_024


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
    segments = sort_into_segments(ids[None])
    order, segment = tf.constant(segments.order), tf.constant(segments.segment)
    unique = tf.constant(segments.unique)
    distinct = len(segments.unique)
    unsorted = tf.constant(np.argsort(segments.order))
    place = tf.gather(segment, unsorted)
    gradients = tf.constant(rng.normal(size=(ROWS, vector_size)).astype(np.float32))
    steps = tf.constant(rng.normal(size=(distinct, vector_size)).astype(np.float32))
    table = tf.Variable(tf.zeros([VOCABULARY, vector_size]))
    sums = {
        "gather + segment_sum (used)": lambda: tf.math.segment_sum(tf.gather(gradients, order), segment),
        "sparse_segment_sum": lambda: tf.sparse.segment_sum(gradients, order, segment),
        "unsorted_segment_sum": lambda: tf.math.unsorted_segment_sum(gradients, place, distinct),
    }
    writes = {
        "gather + add + scatter_update (used)": lambda: table.scatter_update(
            tf.IndexedSlices(tf.gather(table, unique) + steps, unique)
        ),
        "scatter_add": lambda: table.scatter_add(tf.IndexedSlices(steps, unique)),
    }
    lengths = {
        "EuclideanNorm (used)": lambda: tf.raw_ops.EuclideanNorm(input=steps, axis=1),
        "square + sum + sqrt": lambda: tf.sqrt(tf.reduce_sum(tf.square(steps), axis=1)),
    }
    print(f"vector size {vector_size}: {ROWS} gradients of {distinct} distinct rows")
    for name, operation in sums.items():
        print(f"  sum    {nanoseconds_a_row(operation, ROWS, rounds):7.1f} ns a gradient  {name}")
    for name, operation in lengths.items():
        print(f"  length {nanoseconds_a_row(operation, distinct, rounds):7.1f} ns a row       {name}")
    for name, operation in writes.items():
        print(f"  write  {nanoseconds_a_row(operation, distinct, rounds):7.1f} ns a row       {name}")


def compare_products(vector_size: int, rounds: int) -> None:
    """Print a line for each shape of a run: its three products, in float32 and in bfloat16 between casts."""
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

    def half(left: tf.Tensor, right: tf.Tensor, **transposed: bool) -> tf.Tensor:
        product = tf.matmul(tf.cast(left, tf.bfloat16), tf.cast(right, tf.bfloat16), **transposed)
        return tf.cast(product, tf.float32)

    return {
        name: [
            lambda multiply=multiply: multiply(hidden, rows, transpose_b=True),
            lambda multiply=multiply: multiply(gradient, rows),
            lambda multiply=multiply: multiply(gradient, hidden, transpose_a=True),
        ]
        for name, multiply in ((f"float32{' (used)' * (not fast)}", tf.matmul), (f"bfloat16{' (used)' * fast}", half))
    }


def main(argv: list[str] | None = None) -> int:
    """Print the comparison; the exit status is 0."""
    parser = argparse.ArgumentParser(
        description="Compares ways to multiply small matrices, to sum gradients by row, to measure rows and to write "
        "them back, on one thread. What is marked as used is what gensim_tfw2v does."
    )
    parser.add_argument("--vector-size", type=int, nargs="+", default=[100, 300], metavar="N", help="default: 100 300")
    parser.add_argument("--rounds", type=int, default=200, metavar="N", help="the best of so many (default: 200)")
    arguments = parser.parse_args(argv)
    for vector_size in arguments.vector_size:
        compare_rows(vector_size, arguments.rounds)
        compare_products(vector_size, arguments.rounds)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
