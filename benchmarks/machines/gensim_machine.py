"""gensim's class on an emulated machine that has as many cores as the workers of a cluster together."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

from measuring.jobs import Job

from machines.processes import COORDINATOR, NodeProcesses


class GensimMachine(NodeProcesses):
    """One machine, with a thread for each worker of the job."""

    def train(self, job: Job, batch_words: int | None) -> dict[str, Any]:
        """Return the results of a training; the machine counts as a worker, and sends nothing."""
        request = {"cluster": None, "job": asdict(job), "batch_words": None}
        result = self.measure([sys.executable, "-m", "machines.coordinator"], request)
        used = {name: {"worker0": result[name][COORDINATOR]} for name in ("cpu_seconds", "peak_bytes")}
        return result | used | {"sent_bytes": {}}
