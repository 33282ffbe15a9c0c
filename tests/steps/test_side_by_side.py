"""Batches that several cores train side by side: all of them are trained, and their metrics are in order."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.example_blocks import SETTINGS, SIZE, maker_from, work_on

from gensim_tfw2v.blocks.batches import Block
from gensim_tfw2v.blocks.chunk_task import BatchMetrics, PreparedBlock, prepare
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.placement.tasks.block import zeros_for
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.arguments import block_tensors, lookups_for, objective_of, rates
from gensim_tfw2v.steps.graph import block_function
from gensim_tfw2v.steps.kernel import kernel
from gensim_tfw2v.steps.settings import StepSettings
from gensim_tfw2v.steps.side_by_side import side_by_side
from gensim_tfw2v.steps.signature import SIGNATURE, Tables

tf = load_tensorflow()

Rows = dict[str, Any]
CBOW = replace(SETTINGS, skip_gram=False)
WORDS_OF_A_BATCH = 10


def numbered_batches(meet: Callable[[], Any]) -> Any:
    """Return what stands for a block function: the metrics of a batch are its number, and each span calls `meet`."""

    def met(numbers: np.ndarray) -> np.ndarray:
        meet()
        return numbers

    def train(tables: Any, block: Any, rates: Any, lookups: Any, span: tf.Tensor) -> BatchMetrics:
        numbers = tf.numpy_function(met, [tf.cast(tf.range(span[0], span[1]), tf.float32)], tf.float32)
        numbers.set_shape([None])
        return BatchMetrics(numbers, numbers + 100, numbers + 200)

    return tf.function(train, autograph=False, input_signature=SIGNATURE).get_concrete_function()


def graph_of(meet: Callable[[], Any]) -> Any:
    """Return a graph as a worker's: (span, cores) → metrics of numbered batches."""
    train = side_by_side(numbered_batches(meet))

    def run(span: tf.Tensor, cores: tf.Tensor) -> BatchMetrics:
        table = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[1, 1], shared_name="unused")
        others = tf.nest.map_structure(tf.constant, zeros_for(SIGNATURE[1:4]))
        return train(Tables(table, table, table), *others, span, cores)

    return tf.function(run, autograph=False)


@pytest.fixture(scope="module")
def meetings() -> list[Callable[[], Any]]:
    """Return a list of one function, which each span calls."""
    return [lambda: None]


@pytest.fixture(scope="module")
def graph(meetings: list[Callable[[], Any]]) -> Any:
    """Return a graph that the tests below share."""
    return graph_of(lambda: meetings[0]())


MetricsOf = Callable[..., BatchMetrics]


@pytest.fixture
def metrics_of(graph: Any, meetings: list[Callable[[], Any]]) -> MetricsOf:
    """Return a function that returns the metrics of batches that so many cores train."""

    def run(first: int, end: int, cores: int, meet: Callable[[], Any] = lambda: None) -> BatchMetrics:
        meetings[0] = meet
        return BatchMetrics(*(metric.numpy() for metric in graph(tf.constant([first, end]), tf.constant(cores))))

    return run


@pytest.mark.parametrize("cores", [1, 2, 3, 5, 9, 300])
@pytest.mark.parametrize(("first", "end"), [(0, 1), (0, 5), (3, 11), (4, 4)])
def test_every_batch_is_trained_once_and_metrics_are_in_order(
    first: int, end: int, cores: int, metrics_of: MetricsOf
) -> None:
    found = metrics_of(first, end, cores)
    for metric, added in zip(found, (0, 100, 200), strict=True):
        np.testing.assert_array_equal(metric, np.arange(first, end) + added)


def test_as_many_spans_as_cores_are_trained_and_none_is_empty(metrics_of: MetricsOf) -> None:
    for batches, cores, expected in ((8, 1, 1), (8, 3, 3), (2, 5, 2), (0, 4, 1)):
        spans: list[int] = []
        metrics_of(0, batches, cores, lambda spans=spans: spans.append(1))
        assert len(spans) == expected


def test_cores_train_at_the_same_time(metrics_of: MetricsOf) -> None:
    both = threading.Barrier(2)
    metrics_of(0, 6, 2, lambda: both.wait(60))  # raises an error unless the second span begins before the first ends


def batches_apart(settings: StepSettings) -> PreparedBlock:
    """Return a block whose batches share no row."""
    maker = replace(maker_from(0), skip_gram=settings.skip_gram)
    words = Sentences(np.random.default_rng(4).integers(0, 10, 140).astype(np.int32), np.full(14, 10, np.int32))
    prepared = prepare(maker, replace(work_on(0), content=words))
    assert prepared is not None
    block = prepared.block
    first = WORDS_OF_A_BATCH * np.arange(len(block.pairs), dtype=np.int32)[:, None, None]

    def apart(ids: Any) -> Any:
        return None if ids is None else ids + first

    own: Block = replace(
        block,
        input_ids=apart(block.input_ids),
        candidate_ids=apart(block.candidate_ids),
        target_ids=apart(block.target_ids),
    )
    return replace(prepared, block=own)


def trained(settings: StepSettings, cores: int | None) -> tuple[Rows, BatchMetrics]:
    """Return all rows and metrics after training such a block, by the block function itself if `cores` is None."""
    prepared = batches_apart(settings)
    batches = len(prepared.block.pairs)
    assert batches > 4
    random = np.random.default_rng(1)
    inputs, outputs = (
        tf.Variable(random.normal(size=(WORDS_OF_A_BATCH * batches, SIZE)).astype(np.float32)) for _ in range(2)
    )
    tables = Tables(inputs.handle, outputs.handle, inputs.handle)
    others = tf.nest.map_structure(
        tf.convert_to_tensor,
        (block_tensors(prepared.block), rates(settings, prepared, np.ones(1, np.float32)), lookups_for(settings)),
    )
    train = block_function(objective_of(settings), kernel())
    if cores is None:
        metrics = train(tables, *others, tf.constant([0, batches]))
    else:
        spans = side_by_side(train)
        whole = tf.constant([0, batches])
        metrics = tf.function(lambda cores: spans(tables, *others, whole, cores))(tf.constant(cores))
    return {"inputs": inputs.numpy(), "outputs": outputs.numpy()}, metrics


@pytest.mark.parametrize("settings", [SETTINGS, CBOW], ids=["skip-gram", "cbow"])
@pytest.mark.parametrize("cores", [1, 4, 50])
def test_batches_that_share_no_row_give_the_bits_that_they_give_one_after_the_other(
    settings: StepSettings, cores: int
) -> None:
    expected, expected_metrics = trained(settings, None)
    found, metrics = trained(settings, cores)
    for name, rows in expected.items():
        np.testing.assert_array_equal(found[name], rows, err_msg=name)
    for name, metric, wanted in zip(BatchMetrics._fields, metrics, expected_metrics, strict=True):
        np.testing.assert_array_equal(metric, wanted, err_msg=name)


def test_what_waits_for_metrics_without_reading_them_waits_for_all_cores() -> None:
    done: list[int] = []
    train = side_by_side(numbered_batches(lambda: done.append(1)))

    @tf.function(autograph=False)
    def run() -> tf.Tensor:
        table = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[1, 1], shared_name="unused")
        others = tf.nest.map_structure(tf.constant, zeros_for(SIGNATURE[1:4]))
        metrics = train(Tables(table, table, table), *others, tf.constant([0, 6]), tf.constant(3))
        with tf.control_dependencies(list(metrics)):
            return tf.numpy_function(lambda: np.int64(len(done)), [], tf.int64)

    for _ in range(20):
        done.clear()
        assert run().numpy() == 3
