"""A cluster of emulated machines: a task of ours on each, and the coordinator that trains on them."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from measuring.jobs import Job

from machines.networks import Loopback, Network
from machines.processes import COORDINATOR, NodeProcesses
from machines.quotas import Quotas


class NodeCluster(NodeProcesses):
    """Machines with a task each, and one for the coordinator.

    Parameters
    ----------
    worker_cores : int
        Cores of a worker that train a block side by side, within its quota.
    """

    def __init__(
        self,
        network: Network | Loopback,
        quotas: Quotas | None,
        cores: dict[str, float | None],
        folder: Path,
        worker_cores: int = 1,
    ) -> None:
        super().__init__(network, quotas, cores, folder)
        self._worker_cores = worker_cores
        self._cluster: dict[str, list[str]] = {"ps": [], "worker": []}
        for name in self._tasks():
            self._cluster[_job_of(name)].append(network.address(name))

    def _tasks(self) -> list[str]:
        """Return the machine of each task."""
        return [name for name in self._cores if name != COORDINATOR]

    def start(self) -> None:
        """Start all tasks and return when they are ready."""
        file = self._folder / "cluster.json"
        file.write_text(json.dumps(self._cluster))
        for name in self._tasks():
            self.begin_task(name)
        self._wait_until(" is ready ", self._tasks())

    def begin_task(self, name: str, is_again: bool = False) -> None:
        """Start a task, at first or again after its end, and do not wait for it."""
        job = _job_of(name)
        task = ["--job", job, "--task", name[len(job) :], "--cluster", str(self._folder / "cluster.json")]
        server = [sys.executable, "-m", "gensim_tfw2v", "server", *task, "--cores", str(self._worker_cores)]
        self._begin(name, [*server, "--with-parent", str(os.getpid()), "--allow-network"], is_again=is_again)

    def train(self, job: Job, batch_words: int | None) -> dict[str, Any]:
        """Return what the coordinator says of the training, measured from outside."""
        # The model's `workers` only decides between one block at a time and one for each worker of the cluster.
        ours = replace(job, workers=max(2, job.workers))
        request = {"cluster": self._cluster, "job": asdict(ours), "batch_words": batch_words}
        return self.measure([sys.executable, "-m", "machines.coordinator"], request)


def _job_of(name: str) -> str:
    return name.rstrip("0123456789")
