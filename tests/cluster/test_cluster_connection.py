"""Descriptions of a cluster, connections to it, and tasks that are refused."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from gensim.models.callbacks import CallbackAny2Vec
from support.child_process import environment, run_script
from support.contract import SENTENCES, SMALL
from support.placements import shared_cluster

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.cluster.connection import connect, disconnect
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.health import answers, hangs
from gensim_tfw2v.cluster.local import free_addresses
from gensim_tfw2v.cluster.specification import addresses_of
from gensim_tfw2v.runtime.tensorflow import load_tensorflow


def test_the_environment_names_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = {"cluster": shared_cluster().addresses, "task": {"type": "chief", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(cluster))
    assert addresses_of("env") == shared_cluster().addresses


COORDINATORS = {
    "no task": {},
    "a chief without an address": {"task": {"type": "chief", "index": 0}},
    "a chief without an index": {"task": {"type": "chief"}},
    "another task": {"task": {"type": "worker", "index": 7}},
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "own_address", [pytest.param(False, marks=pytest.mark.slow, id="no address"), pytest.param(True, id="own address")]
)
@pytest.mark.parametrize(
    "task",
    [
        pytest.param(task, id=name, marks=[] if name == "a chief without an index" else pytest.mark.slow)
        for name, task in COORDINATORS.items()
    ],
)
def test_a_coordinator_trains_whatever_the_environment_says_of_it(
    monkeypatch: pytest.MonkeyPatch, task: dict[str, Any], own_address: bool
) -> None:
    addresses = shared_cluster().addresses
    (own,) = free_addresses(1)
    cluster = addresses | ({"chief": [own]} if own_address else {})
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster} | task))
    disconnect(addresses)
    model = TFWord2Vec(SENTENCES, **SMALL, workers=1, cluster="env")
    assert answers(own) == own_address
    local = TFWord2Vec(SENTENCES, **SMALL, workers=1)
    np.testing.assert_allclose(model.wv.vectors, local.wv.vectors, atol=1e-6)


@pytest.mark.slow
def test_a_port_of_the_coordinator_that_is_taken_is_named_and_harms_nothing() -> None:
    script = f"""
import json, os, socket
from gensim_tfw2v import ClusterError, TFWord2Vec
addresses = {shared_cluster().addresses!r}
with socket.create_server(("127.0.0.1", 0)) as taken:
    own = f"127.0.0.1:{{taken.getsockname()[1]}}"
    os.environ["TF_CONFIG"] = json.dumps({{"cluster": addresses | {{"chief": [own]}}}})
    try:
        TFWord2Vec([["a", "b"]] * 50, min_count=1, cluster="env")
    except ClusterError as error:
        print(str(error).startswith(f"the coordinator cannot listen at {{own}}, the address of job 'chief'"))
TFWord2Vec([["a", "b"]] * 50, min_count=1, cluster="env")
print("trained")
"""
    done = run_script(script)
    assert done.stdout == "True\ntrained\n", done.stderr


def test_a_resolver_may_say_that_this_process_is_a_chief_without_an_address() -> None:
    tf = load_tensorflow()
    addresses = shared_cluster().addresses
    disconnect(addresses)
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec(addresses), task_type="chief", task_id=0
    )
    assert connect(resolver).describe_all()


@pytest.mark.parametrize(
    ("chief", "message"),
    [
        (["host:1", "host:2"], "job 'chief' is the coordinator, one host:port in a list"),
        ("host:1", "job 'chief' is the coordinator, one host:port in a list"),
        (["host"], "'host' is not an address of the form host:port"),
        (["server:1"], "'server:1' cannot be the address of two tasks"),
    ],
    ids=str,
)
def test_what_cannot_be_the_address_of_a_coordinator_is_named(
    monkeypatch: pytest.MonkeyPatch, chief: Any, message: str
) -> None:
    cluster = {"ps": ["server:1"], "worker": ["host:3"], "chief": chief}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster}))
    with pytest.raises(ValueError, match=message):
        TFWord2Vec(cluster="env")


def test_tasks_by_number_are_in_the_order_of_their_numbers() -> None:
    workers = {str(task): f"host{task}:1" for task in (10, 2, 1, 0)}
    found = addresses_of({"ps": ["server:1"], "worker": workers})
    assert found["worker"] == ["host0:1", "host1:1", "host2:1", "host10:1"]
    with pytest.raises(ValueError, match="'first' is not the number of a task"):
        addresses_of({"ps": ["server:1"], "worker": {"first": "host:1"}})


@pytest.mark.parametrize("address", ["host", "host:", "host:http", "host:²", "host:65536", ":1"])
def test_what_is_no_address_is_named(address: str) -> None:
    with pytest.raises(ValueError, match=f"{address!r} is not an address of the form host:port"):
        addresses_of({"ps": [address], "worker": ["host:1"]})


def test_a_host_that_cannot_be_one_does_not_answer() -> None:
    assert not answers("a..b:2222")
    assert not hangs("a..b:2222")


def test_another_cluster_has_to_wait_for_the_end_of_a_training() -> None:
    refused = []

    class Unfaithful(CallbackAny2Vec):  # type: ignore[misc]
        def on_epoch_begin(self, model: Any) -> None:
            with pytest.raises(ClusterError, match="a training is running") as error:
                connect(shared_cluster(1, 1))
            refused.append(error)

    TFWord2Vec(SENTENCES, **SMALL | {"epochs": 2}, cluster=shared_cluster(), callbacks=[Unfaithful()])
    assert len(refused) == 2
    assert connect(shared_cluster(1, 1)).describe_all()


@pytest.mark.slow
def test_tasks_of_another_version_are_refused_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = shared_cluster()
    connect(cluster)
    with monkeypatch.context() as other:
        other.setattr("gensim_tfw2v.cluster.task.__version__", "0.0.1")
        for _ in range(2):  # to a connection that there is
            with pytest.raises(ClusterError, match=r"this process has gensim_tfw2v 0\.0\.1 .* worker 0 has package"):
                connect(cluster)
        disconnect(cluster.addresses)
        for _ in range(2):  # and to one that is to be made
            with pytest.raises(ClusterError, match="worker 0 has package"):
                connect(cluster)
        assert connect(cluster, any_version=True).describe_all()
    assert connect(cluster).describe_all()


STRATEGY = """
import tensorflow as tf
from gensim_tfw2v import TFWord2Vec

def strategy(addresses):
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(addresses), rpc_layer="grpc")
    return tf.distribute.experimental.ParameterServerStrategy(resolver)

def blocks_on(addresses):
    from gensim_tfw2v.cluster.connection import connect
    return sum(task["blocks"] for task in connect(addresses).describe_all().values())

def train(cluster):
    TFWord2Vec([["a", "b"]] * 50, min_count=1, epochs=2, cluster=cluster)
"""


@pytest.mark.slow
def test_a_strategy_trains_on_its_own_cluster_also_after_another_one() -> None:
    one, other = shared_cluster().addresses, shared_cluster(1, 1).addresses
    script = f"""
one, other = {one!r}, {other!r}
first = strategy(one)
train(first)
train(other)
before = blocks_on(other)
train(first)
print(blocks_on(other) == before)
"""
    done = run_script(STRATEGY + script)
    assert done.stdout == "True\n", done.stderr


@pytest.mark.slow
def test_a_strategy_that_cuts_large_variables_leaves_shards_whole() -> None:
    script = f"""
tf.distribute.experimental.ParameterServerStrategy = functools.partial(
    tf.distribute.experimental.ParameterServerStrategy,
    variable_partitioner=tf.distribute.experimental.partitioners.FixedShardsPartitioner(2),
)
cluster = strategy({shared_cluster().addresses!r})
TFWord2Vec([list("abcdefgh")] * 50, min_count=1, epochs=2, cluster=cluster)
"""
    done = run_script(f"import functools\n{STRATEGY}{script}")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_tasks_are_not_asked_to_delete_graphs_of_an_earlier_training_in_this_process() -> None:
    script = """
from support.contract import SENTENCES, SMALL
from gensim_tfw2v import TFWord2Vec, local_cluster
TFWord2Vec(SENTENCES, **SMALL)
with local_cluster() as cluster:
    TFWord2Vec(SENTENCES, **SMALL, cluster=cluster)
"""
    done = run_script(script)
    assert done.returncode == 0, done.stderr
    assert "non-existent function" not in done.stderr


@pytest.mark.slow
def test_a_task_that_was_not_started_by_this_package_is_named() -> None:
    addresses = {"ps": free_addresses(1), "worker": free_addresses(1)}
    script = f"""
import tensorflow as tf
spec = tf.train.ClusterSpec({addresses!r})
servers = [tf.distribute.Server(spec, job_name=job, task_index=0) for job in ("ps", "worker")]
print("ready", flush=True)
servers[0].join()
"""
    with subprocess.Popen([sys.executable, "-c", script], env=environment(), stdout=subprocess.PIPE) as servers:
        try:
            assert servers.stdout is not None
            assert servers.stdout.readline() == b"ready\n"
            with pytest.raises(ClusterError, match=r"ps 0 .* was not started by `tfw2v server`"):
                connect(addresses)
        finally:
            disconnect(addresses)
            servers.kill()
