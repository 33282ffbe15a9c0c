"""Trains on the cluster that the environment variable TF_CONFIG describes, as schedulers such as Kubernetes set it.

Without TF_CONFIG, it starts the tasks of a small cluster on this machine, and itself again with a TF_CONFIG of them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

from gensim.test.utils import datapath
from gensim.utils import simple_preprocess

from gensim_tfw2v import TFWord2Vec

SERVERS, WORKERS = 1, 2  # of a cluster on this machine
STOP_SECONDS = 20


def free_addresses(count: int) -> list[str]:
    """Return addresses on loopback at which nobody listens."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]


def with_config(cluster: dict[str, list[str]], job: str, index: int = 0) -> dict[str, str]:
    """Return the environment of a task: this one, with a TF_CONFIG that names the cluster and the task."""
    return os.environ | {"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": job, "index": index}})}


@contextlib.contextmanager
def tasks_of_this_machine() -> Iterator[dict[str, list[str]]]:
    """Start the tasks of a cluster, yield their addresses by job, and end the tasks."""
    addresses = free_addresses(SERVERS + WORKERS)
    cluster = {"ps": addresses[:SERVERS], "worker": addresses[SERVERS:]}
    # With --with-parent the tasks also end if this process is killed.
    command = [sys.executable, "-m", "gensim_tfw2v", "server", "--with-parent", str(os.getpid())]
    processes = []
    try:
        for job, of_job in cluster.items():
            for index in range(len(of_job)):
                processes.append(subprocess.Popen(command, env=with_config(cluster, job, index)))
        yield cluster
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def train(allow_network: bool) -> None:
    """Train on the cluster in TF_CONFIG, and print what each worker did."""
    with open(datapath("lee_background.cor"), encoding="utf8") as articles:
        sentences = [simple_preprocess(article) for article in articles]
    model = TFWord2Vec(sentences, sg=1, epochs=20, cluster="env", allow_network=allow_network)
    report = model.training_report
    speed = report["raw_words"] / report["seconds"]
    print(f"{speed:.0f} words/s on all workers together")
    for name, task in report["tasks"].items():
        if name.startswith("worker"):
            share = task["blocks"] / report["blocks"]
            print(f"{name}: {task['blocks']:.0f} of {report['blocks']} blocks, about {speed * share:.0f} words/s")
    print(f"fire: {', '.join(word for word, _ in model.wv.most_similar('fire', topn=5))}")


def main() -> int:
    """Train where TF_CONFIG says; without it, start tasks and a process that trains on them, and return its status."""
    parser = argparse.ArgumentParser(description="Train on the cluster in TF_CONFIG, or on one that this starts.")
    parser.add_argument("--allow-network", action="store_true", help="allow tasks on a network; nothing is encrypted")
    allow_network = parser.parse_args().allow_network
    if os.environ.get("TF_CONFIG"):
        train(allow_network)
        return 0
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # which ends what is started below
    with tasks_of_this_machine() as cluster:
        return subprocess.run([sys.executable, __file__], env=with_config(cluster, "chief")).returncode


if __name__ == "__main__":
    sys.exit(main())
