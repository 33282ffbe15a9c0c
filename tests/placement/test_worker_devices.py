"""`device=` with `cluster=`: each worker trains copies of its rows on a device of its own.

The second CPU device of each worker stands in for a GPU.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from measuring.graph_operations import gpu_versions_of
from support.contract import SENTENCES, SMALL, assert_equal_models, assert_finite, learnt_arrays, topic_gap, two_topics
from support.objectives import CBOW_TREE_WITH_ADAGRAD, SKIP_GRAM
from support.placements import shared_cluster
from support.two_cpus import two_cpu_cluster

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.specification import Addresses
from gensim_tfw2v.placement import device as module
from gensim_tfw2v.placement import server
from gensim_tfw2v.placement.server_rows.block_graphs import worker_graphs
from gensim_tfw2v.placement.server_rows.shape import GraphShape
from gensim_tfw2v.placement.synchronous.part_graphs import part_function
from gensim_tfw2v.runtime.devices import THE_CPU, Device
from gensim_tfw2v.steps import kernel as steps_kernel
from gensim_tfw2v.steps.kernel import plain_kernel
from gensim_tfw2v.steps.signature import Objective

A_GPU = Device("gpu", 0, "/device:GPU:0")
STAND_IN = Device("gpu", 0, "/device:CPU:1")
MODES: dict[str, dict[str, Any]] = {
    "sg-neg": {"sg": 1},
    "cbow-neg": {"sg": 0},
    "sg-hs": {"sg": 1, "hs": 1, "negative": 0},
    "cbow-hs with Adagrad": {"sg": 0, "hs": 1, "negative": 0, "optimizer": "adagrad"},
}

DESIGNS: dict[str, dict[str, Any]] = {
    "downpour": {},
    "overlap": {"cluster_overlap": True},
    "rounds": {"distribution": "synchronous"},
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Addresses]:
    """A server and two workers with two CPU devices and two cores each."""
    with two_cpu_cluster() as addresses:
        yield addresses


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the second CPU of a worker be the one that "gpu" names, with the kernel of GPUs."""
    monkeypatch.setattr(module, "find_device_of_tasks", lambda name, tasks: STAND_IN if name == "gpu" else THE_CPU)


@pytest.fixture
def plain_steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let this process make plain graphs for CPUs as well: GPUs have no others."""
    caches = (worker_graphs, part_function)
    for cache in caches:
        cache.cache_clear()
    monkeypatch.setattr(steps_kernel, "kernel", plain_kernel)
    yield
    for cache in caches:
        cache.cache_clear()


def trained(cluster: Addresses, device: str | None, **others: Any) -> TFWord2Vec:
    """Return a small model that is trained on a device of each worker."""
    return TFWord2Vec(SENTENCES, **SMALL | {"workers": 1} | others, cluster=cluster, device=device)


@pytest.mark.slow
def test_another_device_of_the_workers_trains_the_same_vectors(
    cluster: Addresses, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        model = trained(cluster, "cpu:1")
    assert "training runs on cpu:1 of each worker" in caplog.messages
    assert model.training_report is not None
    assert model.training_report["device"] == "cpu:1"
    assert_equal_models(model, trained(cluster, None))


@pytest.mark.usefixtures("stand_in", "plain_steps")
@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_the_kernel_of_gpus_trains_on_workers_as_the_cpu_does(
    cluster: Addresses, design: dict[str, Any], mode: dict[str, Any]
) -> None:
    on_gpu, on_cpu = (learnt_arrays(trained(cluster, device, **design, **mode)) for device in ("gpu", "cpu"))
    assert list(on_gpu) == list(on_cpu)
    longest = float(np.abs(on_cpu["vectors"]).max())
    for name, values in on_cpu.items():
        np.testing.assert_allclose(on_gpu[name], values, rtol=0, atol=1e-3 * longest)


@pytest.mark.usefixtures("stand_in")
@pytest.mark.slow
@pytest.mark.parametrize("in_call", [None, 3], ids=["a block", "three blocks"])
def test_workers_with_gpus_correct_their_changes_and_learn(cluster: Addresses, in_call: int | None) -> None:
    arguments = {**SMALL, "sg": 1, "epochs": 3, "workers": 2, "batch_words": 1000, "blocks_per_call": in_call}
    model = TFWord2Vec(two_topics(1000), **arguments, alpha=0.05, cluster=cluster, device="gpu")
    assert_finite(model)
    assert topic_gap(model.wv) > 0.5
    assert model.training_report is not None
    assert [model.training_report["tasks"][f"worker {worker}"]["cores"] for worker in range(2)] == [1, 1]


def test_a_design_that_trains_on_the_usual_cpu_refuses_another_one(cluster: Addresses) -> None:
    with pytest.raises(ValueError, match="distribution='averaging' trains on CPUs, and device is 'cpu:1'"):
        trained(cluster, "cpu:1", distribution="averaging")


def test_workers_without_the_device_are_named() -> None:
    with pytest.raises(ValueError, match="device='gpu' is not there on worker 0, worker 1; a worker has a GPU if"):
        trained(shared_cluster(), "gpu")
    with pytest.raises(ValueError, match="device='cpu:1' is not there on worker 0, worker 1"):
        trained(shared_cluster(), "cpu:1")


@pytest.mark.slow
@pytest.mark.parametrize("objective", [SKIP_GRAM, CBOW_TREE_WITH_ADAGRAD], ids=["skip-gram", "tree with Adagrad"])
def test_steps_and_rows_of_a_workers_graph_are_on_its_gpu_which_has_each_operation(objective: Objective) -> None:
    shape = GraphShape(objective, 2, 1, -1, row_type="bfloat16", corrects=True, steps_on=A_GPU)
    graph = worker_graphs.__wrapped__(shape).train.graph.as_graph_def()
    on_gpu = [node for node in graph.node if node.device.endswith("GPU:0")]
    assert {node.op for node in on_gpu if not gpu_versions_of(node)} == set()
    of_rows = {"VarHandleOp", "AssignVariableOp", "ResourceGather", "ResourceScatterUpdate", "DestroyResourceOp"}
    elsewhere = [node for node in graph.node if node.op in of_rows and node not in on_gpu]
    assert [node.name for node in elsewhere] == []
    calls = [node for node in graph.node if node.op in ("PartitionedCall", "StatefulPartitionedCall")]
    assert len([node for node in calls if node in on_gpu]) == 1


def test_a_task_sees_the_gpu_that_it_is_given_and_otherwise_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")  # so that the end of the test takes back what the task sets
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    server._choose_gpu(None)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "-1"
    server._choose_gpu(1)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "1"
    server._choose_gpu(None)  # as the environment says
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "1"


def test_a_gpu_that_a_task_does_not_find_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "devices", lambda: [THE_CPU])
    server._check_gpu(None)
    with pytest.raises(ClusterError, match="TensorFlow finds no GPU 1 here: nvidia-smi lists those there are"):
        server._check_gpu(1)
    monkeypatch.setattr(server, "devices", lambda: [THE_CPU, A_GPU])
    server._check_gpu(1)
