"""Compares ways to sum gradients by row and to write rows back: the choices made in `gensim_tfw2v.updates` and `steps`.

Prints nanoseconds a row, the best of several rounds, on one thread:

    python benchmarks/row_operations.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from gensim_tfw2v.segments import sort_into_segments
from gensim_tfw2v.tensorflow_runtime import load_tensorflow

tf = load_tensorflow()

VOCABULARY = 50_000
ROWS = 4_096  # gradients of a batch
ROUNDS = 200


def word_ids(rng: np.random.Generator) -> np.ndarray:
    """Return ids as a subsampled corpus has them: frequent ones several times, most once or twice."""
    shares = 1.0 / np.sqrt(np.arange(1, VOCABULARY + 1) + 20.0) ** 1.6
    return rng.choice(VOCABULARY, ROWS, p=shares / shares.sum()).astype(np.int32)


def nanoseconds_a_row(operation: Callable[[], object], rows: int) -> float:
    """Return the best time of `operation` divided by `rows`."""

    def run() -> object:
        result = operation()
        return result if isinstance(result, tf.Tensor) else None  # a variable returned would be read whole

    graph = tf.function(run, autograph=False)
    graph()
    best = np.inf
    for _ in range(ROUNDS):
        began = time.perf_counter()
        graph()
        best = min(best, time.perf_counter() - began)
    return best / rows * 1e9


def compare(vector_size: int) -> None:
    """Print a line for each operation."""
    rng = np.random.default_rng(0)
    ids = word_ids(rng)
    segments = sort_into_segments(ids[None])
    order, segment = tf.constant(segments.order[0]), tf.constant(segments.segment[0])
    unique = tf.constant(segments.unique)
    distinct = len(segments.unique)
    unsorted = tf.constant(np.argsort(segments.order[0]))
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
    print(f"vector size {vector_size}: {ROWS} gradients of {distinct} distinct rows")
    for name, operation in sums.items():
        print(f"  sum    {nanoseconds_a_row(operation, ROWS):7.1f} ns a gradient  {name}")
    for name, operation in writes.items():
        print(f"  write  {nanoseconds_a_row(operation, distinct):7.1f} ns a row       {name}")


if __name__ == "__main__":
    for size in (100, 300):
        compare(size)
