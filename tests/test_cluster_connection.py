"""What a process may be told of a cluster, what it finds there, and which tasks it refuses."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from child_process import environment, run_script
from placements import shared_cluster

import gensim_tfw2v
from gensim_tfw2v.cluster.connection import connect, disconnect
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.local import free_addresses
from gensim_tfw2v.cluster.specification import addresses_of


def test_the_environment_names_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = {"cluster": shared_cluster().addresses, "task": {"type": "chief", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(cluster))
    assert addresses_of("env") == shared_cluster().addresses


def test_tasks_of_another_version_are_refused_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = shared_cluster()
    connect(cluster)
    with monkeypatch.context() as other:
        other.setattr(gensim_tfw2v, "__version__", "0.0.1")
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
