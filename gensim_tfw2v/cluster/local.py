"""A cluster of real processes on this machine, as long as a `with` block lasts."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from gensim_tfw2v.cluster.connection import disconnect
from gensim_tfw2v.cluster.cutting import kill_after
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.exposure import check_system, warn_if_open
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.cluster.interfaces import LOOPBACK_ADDRESS
from gensim_tfw2v.cluster.specification import Addresses, DescribedTasks
from gensim_tfw2v.runtime.processes import is_running, machine_name, runs_python
from gensim_tfw2v.runtime.tensorflow import environment_for_tasks

_START_SECONDS = 120.0
_DISCONNECT_SECONDS = 20.0  # time that TensorFlow may take to disconnect: more than running calls may take to end
_STOP_SECONDS = 10.0
_TRIES_FOR_FREE_PORTS = 3
_FOLDER_PREFIX = "tfw2v-cluster-"  # followed by the machine and the number of the process that made the folder


class LocalCluster(DescribedTasks):
    """Running tasks: `addresses` by job, and the process of each task.

    Parameters
    ----------
    cores : int
        Of each worker, that train a block side by side.
    """

    def __init__(self, addresses: Addresses, folder: Path, cores: int = 1) -> None:
        super().__init__(addresses)
        self.processes: dict[tuple[str, int], subprocess.Popen[bytes]] = {}
        self._folder, self._cores = folder, cores
        (folder / "cluster.json").write_text(json.dumps(addresses), encoding="utf-8")
        for job, tasks in addresses.items():
            for task in range(len(tasks)):
                self.start(job, task)

    def start(self, job: str, task: int) -> None:
        """Start a task's process, for the first time or after its end."""
        command = task_command(job, task, str(self._folder / "cluster.json"), self._cores)
        if warn_if_open():
            command.append("--insecure")
        with self.log(job, task).open("ab") as log:
            self.processes[job, task] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=task_environment(),
                start_new_session=True,  # Ctrl-C in a terminal must end only the coordinator, which needs its tasks
            )

    def log(self, job: str, task: int) -> Path:
        """Return the file that a task's output goes to."""
        return self._folder / f"{job}-{task}.log"

    def wait(self) -> None:
        """Wait until all tasks answer; raise ClusterError if one of them ends, or does not answer in time."""
        deadline = time.monotonic() + _START_SECONDS
        for (job, task), process in self.processes.items():
            while not answers(self.addresses[job][task]):
                if process.poll() is not None or time.monotonic() > deadline:
                    tail = self.log(job, task).read_text(errors="replace")[-2000:]
                    raise ClusterError(f"{job} {task} did not start at {self.addresses[job][task]}: {tail}")
                time.sleep(0.05)

    def kill_silent(self) -> None:
        """End tasks that do not answer: TensorFlow would wait for them when it disconnects."""
        for (job, task), process in self.processes.items():
            if not answers(self.addresses[job][task]):
                process.kill()
                process.wait()

    def stop(self) -> None:
        """End all tasks."""
        for process in self.processes.values():
            process.terminate()
        deadline = time.monotonic() + _STOP_SECONDS
        for process in self.processes.values():
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextlib.contextmanager
def local_cluster(ps: int = 1, workers: int = 1, cores: int = 1) -> Iterator[LocalCluster]:
    """Run a cluster on this machine for the length of a ``with`` block, and yield a value for ``cluster=``.

    The processes end with the block, and also when this process is killed. Only this machine can reach them; a warning
    says so if the system cannot ensure that.

    Parameters
    ----------
    ps : int
        Number of parameter servers, which hold the vectors.
    workers : int
        Number of workers, which train.
    cores : int
        Cores with which each worker trains a block side by side.

    Examples
    --------
    >>> from gensim_tfw2v import Word2Vec, local_cluster
    >>> with local_cluster(ps=1, workers=2) as cluster:  # doctest: +SKIP
    ...     model = Word2Vec(corpus_file="corpus.txt", cluster=cluster)
    """
    check_sizes(ps, workers, cores)
    check_system()
    _remove_left_folders()
    with tempfile.TemporaryDirectory(prefix=f"{_own_prefix()}{os.getpid()}-") as folder:
        cluster = _started(ps, workers, cores, Path(folder))
        try:
            yield cluster
        finally:
            cluster.kill_silent()
            running = [process.pid for process in cluster.processes.values() if process.poll() is None]
            with kill_after(_DISCONNECT_SECONDS, running):  # a task may hang after it has answered
                disconnect(cluster.addresses)
            cluster.stop()


def check_sizes(ps: int, workers: int, cores: int) -> None:
    """Raise ValueError if a cluster cannot have so many tasks, and workers of so many cores."""
    if ps < 1 or workers < 1:
        raise ValueError(f"a cluster needs at least one ps and one worker, got ps={ps!r} and workers={workers!r}")
    if cores < 1:
        raise ValueError(f"a worker trains with at least one core, got cores={cores!r}")


def task_command(job: str, task: int, cluster: str, cores: int) -> list[str]:
    """Return the command that runs a task until this process ends; a worker trains with so many cores.

    Parameters
    ----------
    cluster : str
        Value of the flag ``--cluster``.
    """
    if not runs_python(sys.executable or ""):
        raise ClusterError(
            f"sys.executable is {sys.executable!r}, which is not the program of this Python, as where another program "
            "has Python built in: set sys.executable, or start the tasks with `tfw2v server`"
        )
    command = [sys.executable, "-m", "gensim_tfw2v", "server", "--job", job, "--task", str(task)]
    command += ["--cluster", cluster, "--with-parent", str(os.getpid())]
    return command if job == "ps" else [*command, "--cores", str(cores)]


def task_environment() -> dict[str, str]:
    """Return the environment of a task that this process starts, which finds the same package."""
    package_root = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join([package_root, *filter(None, [os.environ.get("PYTHONPATH")])])
    return environment_for_tasks() | {"PYTHONPATH": paths}


def _own_prefix() -> str:
    """Return the prefix of this machine's folders: containers may share the folder for temporary files."""
    return f"{_FOLDER_PREFIX}{machine_name()}-"


def _remove_left_folders() -> None:
    """Remove the folders of this user's clusters whose process was killed."""
    prefix = _own_prefix()
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*-*"):
        maker = folder.name.removeprefix(prefix).partition("-")[0]
        if maker.isdigit() and not is_running(int(maker)):
            shutil.rmtree(folder, ignore_errors=True)


def _started(ps: int, workers: int, cores: int, folder: Path) -> LocalCluster:
    for tries_left in reversed(range(_TRIES_FOR_FREE_PORTS)):
        cluster = LocalCluster({"ps": free_addresses(ps), "worker": free_addresses(workers)}, folder, cores)
        try:
            cluster.wait()
            return cluster
        except BaseException as error:
            cluster.stop()
            # Another process may have taken a port before the task could.
            if not tries_left or not isinstance(error, ClusterError):
                raise
    raise AssertionError("the last try raises")


def free_addresses(count: int, host: str = LOOPBACK_ADDRESS) -> list[str]:
    """Return addresses of this machine, by default on loopback, at which nobody listens."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((host, 0))
        return [f"{host}:{one.getsockname()[1]}" for one in sockets]
