"""ray_cluster(): tasks that Ray starts, and starts again."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import psutil
import pytest
from support.child_process import environment, wait_until
from support.contract import SENTENCES, SMALL

from gensim_tfw2v import ClusterError, TFWord2Vec, ray_cluster
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.runtime.extras import MissingPackageError

CORES = 4  # that Ray believes to have


def test_without_ray_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingPackageError, match=r"ray_cluster\(\) needs the package ray.*gensim-tfw2v\[ray\]"):
        ray_cluster()


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"ps": 0}, "got ps=0 and workers=1"),
        ({"workers": 0}, "got ps=1 and workers=0"),
        ({"cores": 0}, "got cores=0"),
    ],
    ids=str,
)
def test_a_cluster_without_tasks_or_cores_is_refused(sizes: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ray_cluster(**sizes)


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """Start Ray, and stop it at the end."""
    ray = pytest.importorskip("ray", reason="needs ray, which the extra `ray` installs")
    # Paths of sockets may not be long, as those in pytest's folders are.
    with tempfile.TemporaryDirectory(prefix="tfw2v-ray-") as folder, pytest.MonkeyPatch.context() as variables:
        variables.setenv("PYTHONPATH", environment()["PYTHONPATH"])
        variables.setenv("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(num_cpus=CORES, include_dashboard=False, object_store_memory=100 << 20, _temp_dir=folder)
        yield ray
        ray.shutdown()


def process_at(address: str) -> psutil.Process:
    """Return the process that listens at an address of this machine."""
    port = int(address.rpartition(":")[2])
    listening = [one for one in psutil.net_connections("tcp") if one.status == "LISTEN" and one.laddr.port == port]
    return psutil.Process(listening[0].pid)


@pytest.mark.slow
def test_tasks_of_ray_train_the_vectors_of_one_process_and_are_started_again(ray: Any) -> None:
    local = TFWord2Vec(SENTENCES, **SMALL, workers=1)
    with ray_cluster(ps=1, workers=2) as cluster:
        every = [address for job in cluster.addresses.values() for address in job]
        assert all(address.startswith("127.0.0.1:") for address in every)
        model = TFWord2Vec(SENTENCES, **SMALL, workers=1, cluster=cluster)
        np.testing.assert_allclose(model.wv.vectors, local.wv.vectors, atol=1e-6)
        worker = cluster.addresses["worker"][0]
        killed = process_at(worker).pid
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: not psutil.pid_exists(killed) or not answers(worker))
        wait_until(lambda: answers(worker))
        assert process_at(worker).pid != killed
        model = TFWord2Vec(SENTENCES, **SMALL, workers=1, cluster=cluster)
        np.testing.assert_allclose(model.wv.vectors, local.wv.vectors, atol=1e-6)
        assert ray.available_resources().get("CPU", 0) == CORES - 3
    wait_until(lambda: not any(map(answers, every)))
    wait_until(lambda: ray.available_resources().get("CPU", 0) == CORES)


@pytest.mark.slow
def test_more_cores_than_ray_has_are_an_error(ray: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gensim_tfw2v.integrations.ray_cluster._START_SECONDS", 2.0)
    with pytest.raises(ClusterError, match="Ray has not 9 free cores on this machine"):
        ray_cluster(ps=1, workers=2, cores=4)
    wait_until(lambda: ray.available_resources().get("CPU", 0) == CORES)
