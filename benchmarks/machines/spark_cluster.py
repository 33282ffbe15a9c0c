"""Spark's standalone cluster on emulated machines, which trains MLlib's Word2Vec."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

from measuring.checkout import BENCHMARKS
from measuring.jobs import Job
from measuring.scores import is_finite, scores_of
from measuring.systems import count_words

from machines.networks import Loopback, Network
from machines.processes import COORDINATOR, NodeProcesses
from machines.quotas import Quotas

MASTER = "spark-master"
# A machine with a fraction of a core has one processor for Java, which then collects garbage like this.
JAVA_OPTIONS = "-XX:+UseSerialGC"
_DAEMON_MEMORY = "256m"
_PATIENCE = 600  # seconds without a sign of life after which Spark gives a worker up


class SparkCluster(NodeProcesses):
    """Spark's master, its workers with an executor of one core each, and the program that trains on them.

    Parameters
    ----------
    python : str
        A Python that has the package pyspark.
    memory : str
        Heap of an executor, and of the program's Java, such as "768m".
    """

    def __init__(
        self,
        python: str,
        memory: str,
        network: Network | Loopback,
        quotas: Quotas | None,
        cores: dict[str, float | None],
        folder: Path,
    ) -> None:
        super().__init__(network, quotas, cores, folder)
        self._python, self._memory = python, memory
        self._home = _home_of(python)
        self._workers = [name for name in cores if name not in (MASTER, COORDINATOR)]

    def start(self) -> None:
        """Start master and workers, and return when all workers are registered."""
        self._begin_daemon(MASTER, "master.Master")
        self._wait_until("New state: ALIVE", [MASTER])
        for name in self._workers:
            work = ("--cores", "1", "--memory", self._memory, "--work-dir", str(self._folder / f"{name}-work"))
            self._begin_daemon(name, "worker.Worker", *work, self._master)
        self._wait_until("Successfully registered with master", self._workers)

    def train(self, job: Job, batch_words: int | None) -> dict[str, Any]:
        """Return the results of a training, scored as ours are."""
        from gensim.models import KeyedVectors

        vectors = self._folder / "spark-vectors.txt"
        request = {
            "job": asdict(job),
            "master": self._master,
            "host": self._host(COORDINATOR),
            "memory": self._memory,
            "java_options": JAVA_OPTIONS,
            "patience": _PATIENCE,
            "vectors": str(vectors),
        }
        command = [self._python, "-m", "machines.spark_training"]
        result = self.measure(command, request, self._environment(COORDINATOR))
        trained = KeyedVectors.load_word2vec_format(str(vectors), unicode_errors="replace")
        return result | {
            "raw_words": count_words(job.corpus),
            "vocabulary": len(trained),
            "losses": [],
            "scores": scores_of(trained) if job.scores else None,
            "finite": is_finite(trained),
            "report": None,
        }

    @property
    def _master(self) -> str:
        return f"spark://{self._network.address(MASTER)}"

    def _host(self, name: str) -> str:
        return self._network.address(name).rpartition(":")[0]

    def _begin_daemon(self, name: str, kind: str, *arguments: str) -> None:
        host, _, port = self._network.address(name).rpartition(":")
        command = [str(self._home / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}"]
        place = ["--host", host, "--port", port, "--webui-port", "0"]
        self._begin(name, [*command, *place, *arguments], environment=self._environment(name))

    def _environment(self, name: str) -> dict[str, str]:
        """Return the variables of a machine's processes: all of Spark's ports answer the machine's address alone."""
        host, scratch = self._host(name), self._folder / f"{name}-scratch"
        scratch.mkdir(exist_ok=True)
        return {
            "SPARK_HOME": str(self._home),
            "SPARK_CONF_DIR": str(self._folder),
            "SPARK_LOCAL_IP": host,
            "SPARK_LOCAL_HOSTNAME": host,
            "SPARK_LOCAL_DIRS": str(scratch),
            "SPARK_DAEMON_MEMORY": _DAEMON_MEMORY,
            "SPARK_DAEMON_JAVA_OPTS": f"{JAVA_OPTIONS} -Dspark.worker.timeout={_PATIENCE}",
            "PYSPARK_PYTHON": self._python,
            "PYTHONPATH": str(BENCHMARKS),
        }


def why_not(python: str) -> str | None:
    """Return why Spark cannot run here, None if it can."""
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        return "there is no Java: neither JAVA_HOME nor a program 'java'"
    try:
        _home_of(python)
    except (OSError, subprocess.CalledProcessError):
        return f"{python} has no package pyspark"
    return None


def spark_version(python: str) -> str:
    """Return the version of a Python's pyspark."""
    return _say_of(python, "pyspark.__version__")


def _home_of(python: str) -> Path:
    return Path(_say_of(python, "pyspark.__file__")).parent


def _say_of(python: str, expression: str) -> str:
    command = [python, "-c", f"import pyspark; print({expression})"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
