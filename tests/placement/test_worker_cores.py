"""Workers with several cores: what they train with how many, and how large blocks are."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.child_process import environment, wait_until
from support.contract import SMALL, assert_equal_models, assert_finite, topic_gap, two_topics
from support.design_promises import DesignPromises
from support.design_trainings import (
    WORDS,
    Disturbed,
    in_one_process,
    place_of,
    resumed,
    sentence_at,
    train,
    trained,
    untrained,
)
from support.designs import REGISTRY
from support.placements import shared_cluster
from support.stopping import StopError, stop

from gensim_tfw2v import TFWord2Vec, local_cluster, register_task_functions
from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import connect, device, disconnect, sending_graphs
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.cluster.local import free_addresses
from gensim_tfw2v.cluster.specification import workers_beside
from gensim_tfw2v.model.training_plan import placement_for
from gensim_tfw2v.placement.tasks.block import zeros_for
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.side_by_side import side_by_side
from gensim_tfw2v.steps.signature import SIGNATURE, Tables

TRAINED_BY = {"downpour": 2, "averaging": 2, "partition": 2, "synchronous": 1, "columns": 1, "lbfgs": 1}
SLOW = ("averaging", "synchronous", "columns", "lbfgs")
EACH_DESIGN = pytest.mark.parametrize(
    "design",
    [
        pytest.param(REGISTRY[f"{name}-two-cores"], id=name, marks=[pytest.mark.slow] if name in SLOW else [])
        for name in TRAINED_BY
    ],
)
# A worker whose function `meet` returns once it is called twice at the same time.
MEETING = """
import json, sys, threading
from gensim_tfw2v.cluster.remote_functions import register
from gensim_tfw2v.cluster.specification import OwnTask
from gensim_tfw2v.placement.server import serve
both = threading.Barrier(2)
def meet(numbers):
    both.wait(60)
    return numbers
register("meet", meet)
serve(OwnTask("worker", 0, json.loads(sys.argv[1])), cores=2)
"""


def test_workers_say_how_many_cores_they_have() -> None:
    connection = connect(shared_cluster(2, 2, 2))
    assert connection.describe("worker", 1)["cores"] == 2
    assert connection.cores() == [2, 2]
    assert connection.cores(1) == [1, 1]


@EACH_DESIGN
def test_a_design_learns_with_the_cores_that_it_uses_and_reports_them(design: DesignPromises) -> None:
    model = trained(design, workers=2)
    assert_finite(model)
    assert topic_gap(model.wv) > 0.5
    report = model.training_report
    assert report is not None
    assert report["raw_words"] == model.epochs * WORDS
    cores = [report["tasks"][f"worker {worker}"]["cores"] for worker in range(2)]
    assert cores == 2 * [TRAINED_BY[design.distribution]]


def test_one_worker_of_a_model_is_one_core_of_one_worker() -> None:
    design = REGISTRY["partition-two-cores"]
    model = trained(design, workers=1)
    assert_equal_models(model, in_one_process(design))
    assert model.training_report is not None
    assert model.training_report["tasks"]["worker 0"]["cores"] == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "mode",
    [
        pytest.param({"sg": 1, "hs": 1, "negative": 0}, id="sg-hs"),
        pytest.param({"sg": 0, "hs": 1}, id="cbow-both"),
    ],
)
def test_cores_train_the_tree_on_several_servers(mode: dict[str, int]) -> None:
    arguments = {**SMALL, "epochs": 3, "workers": 2, "batch_words": 3000, "alpha": 0.05}
    model = TFWord2Vec(two_topics(1000), **arguments | mode, cluster=shared_cluster(2, 2, 2))
    assert_finite(model)
    assert topic_gap(model.wv) > 0.5


def test_synchronous_rounds_say_once_that_they_leave_cores_idle(caplog: pytest.LogCaptureFixture) -> None:
    design = REGISTRY["synchronous-two-cores"]
    for workers, expected in ((1, 0), (2, 1)):
        caplog.clear()
        with caplog.at_level(logging.WARNING, logger="gensim_tfw2v"):
            placement_for(untrained(design, workers=workers), place_of(design), WORDS)
        warnings = [record.getMessage() for record in caplog.records if "cores" in record.getMessage()]
        assert len(warnings) == expected
        assert all("synchronous rounds use 1 of 2 cores of each worker" in warning for warning in warnings)


@pytest.mark.slow
@pytest.mark.parametrize("before", [1, 2])
def test_a_training_is_resumed_with_another_number_of_cores(before: int, tmp_path: Path) -> None:
    design = REGISTRY["downpour-two-cores"]
    places = {1: shared_cluster(), 2: place_of(design)}
    model = untrained(
        design, cluster=places[before], workers=2, checkpoint_dir=tmp_path, checkpoint_every=f"{WORDS // 4} words"
    )
    with pytest.raises(StopError):
        train(design, model, Disturbed(sentence_at(1.6), stop))
    model = resumed(design, tmp_path, cluster=places[3 - before])
    assert_finite(model)
    assert len(model.epoch_losses) == model.epochs
    assert topic_gap(model.wv) > 0.5


@pytest.mark.slow
def test_cores_of_a_worker_train_at_the_same_time() -> None:
    addresses = {"ps": free_addresses(1), "worker": free_addresses(1)}
    programs = [
        [sys.executable, "-m", "gensim_tfw2v", "server", "--job", "ps", "--task", "0", "--cluster", "env"],
        [sys.executable, "-c", MEETING, json.dumps(addresses)],
    ]
    variables = environment() | {"TF_CONFIG": json.dumps({"cluster": addresses})}
    tasks = [subprocess.Popen(program, env=variables) for program in programs]
    try:
        wait_until(lambda: all(answers(address) for job in addresses.values() for address in job))
        assert connect(addresses).cores() == [2]
        assert spans_that_meet(batches=6) == list(range(6))
    finally:
        disconnect(addresses)
        for task in tasks:
            task.kill()
            task.wait()


def spans_that_meet(batches: int) -> list[float]:
    """Return the losses of batches that two cores of the first worker train; each span is one call of `meet`."""
    tf = load_tensorflow()

    def train(tables: Any, block: Any, rates: Any, span: Any) -> BatchMetrics:
        numbers = tf.cast(tf.range(span[0], span[1]), tf.float32)
        (met,) = remote_functions.call("meet", [numbers], [tf.float32])
        met.set_shape([None])
        return BatchMetrics(met, met, met)

    with sending_graphs():
        concrete = tf.function(train, autograph=False, input_signature=SIGNATURE).get_concrete_function()
        cores = side_by_side(concrete)

        def run() -> Any:
            table = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[1, 1], shared_name="unused")
            others = tf.nest.map_structure(tf.constant, zeros_for(SIGNATURE[1:3]))
            return cores(Tables(table, table, table), *others, tf.constant([0, batches]), tf.constant(2)).losses

        graph = tf.function(run, autograph=False).get_concrete_function()
    with tf.device(device("worker", 0)):
        losses: list[float] = graph().numpy().tolist()
    return losses


def test_workers_on_one_host_share_its_cores() -> None:
    addresses = ["a:1", "b:1", "a:2", "127.0.0.1:1", "localhost:2", "[::1]:3", "127.77.0.1:4"]
    assert [workers_beside(worker, addresses) for worker in range(len(addresses))] == [2, 1, 2, 3, 3, 3, 1]


@pytest.mark.parametrize("cores", [0, -1])
def test_a_wrong_number_of_cores_is_named(cores: int) -> None:
    with pytest.raises(ValueError, match=f"at least one core, got cores={cores}"), local_cluster(cores=cores):
        raise AssertionError("there is a cluster")
    with pytest.raises(ValueError, match=f"at least one core, got cores={cores}"):
        register_task_functions(cores=cores)
