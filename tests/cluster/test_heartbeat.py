"""A task that stops at any moment stops no thread of the coordinator: another process sees a thread's heartbeat."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from support.child_process import environment

from gensim_tfw2v import local_cluster
from gensim_tfw2v.cluster.local import LocalCluster

# A busy machine may stop a process for seconds. TensorFlow waits for a stopped task for twenty.
LONGEST_PAUSE = 10.0
SECONDS_TO_END = 240.0
# Trains on a cluster, and then on a part of it. Stops a task when a function of this name in this file is called.
COORDINATOR = """
import json, os, signal, sys, threading, time
told = json.loads(sys.argv[1])
left = [told["calls"]]

def beat():
    while True:
        os.write(1, b".")
        time.sleep(0.1)

def stop(frame, event, _):
    if event == "call" and frame.f_code.co_name == told["function"] and frame.f_code.co_filename.endswith(told["file"]):
        left[0] -= 1
        if left[0] == 0:
            os.kill(told["process"], signal.SIGSTOP)
            os.write(1, b"S")

threading.Thread(target=beat, daemon=True).start()
threading.setprofile(stop)
sys.setprofile(stop)
from gensim_tfw2v import ClusterError, TFWord2Vec
from gensim_tfw2v.cluster.connection import disconnect
sentences = [[f"{topic}{number * turn % 20}" for number in range(12)] for turn in range(500) for topic in ("a", "b")]
settings = dict(vector_size=8, min_count=1, epochs=2, batch_words=1500, cluster_timeout=15, recovery_timeout=5)
for cluster in told["clusters"]:
    try:
        TFWord2Vec(sentences, cluster=cluster, **settings)
        os.write(1, b"T")
    except ClusterError as error:
        os.write(1, b"E" if told["name"] in str(error) else b"?")
        print(error, file=sys.stderr)
disconnect(told["clusters"][-1])
os.write(1, b"D")
os._exit(0)
"""
# The function, the file and the call of it, and what becomes of both trainings: T is trained, E an error that names it.
MOMENTS = {
    "before tasks are connected": ("set_server_def", "eager/context.py", 1, "worker", "EE"),
    "as tasks are connected": ("update_server_def", "eager/context.py", 1, "worker", "EE"),
    "as it is asked for its description": ("describe", "cluster/connection.py", 1, "worker", "ET"),
    "as tables are made": ("make", "remote/tables.py", 1, "ps", "EE"),
    "as a graph is sent": ("add_c_function", "eager/context.py", 4, "worker", "TT"),
    "as a graph is sent to servers": ("add_c_function", "eager/context.py", 4, "ps", "EE"),
    "as a model is registered": ("_register_model", "calls/worker_thread.py", 1, "worker", "TT"),
    "as a block is trained": ("_advance", "calls/worker_thread.py", 3, "worker", "TT"),
    "as vectors are read": ("read_into", "remote/tables.py", 1, "ps", "EE"),
    "as tables are freed": ("free_lease", "remote/variables.py", 1, "ps", "TE"),
    "as another cluster is connected": ("set_server_def", "eager/context.py", 3, "worker", "TT"),
    "as the connection ends": ("leave", "cluster/connection.py", 1, "worker", "TT"),
}


@pytest.fixture
def cluster() -> Iterator[LocalCluster]:
    with local_cluster(ps=2, workers=2) as running:
        yield running
        for process in running.processes.values():
            process.send_signal(signal.SIGCONT)


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
def test_the_coordinators_threads_continue_when_a_task_stops(cluster: LocalCluster, moment: str) -> None:
    function, file, calls, job, ends = MOMENTS[moment]
    others = cluster.addresses | {"worker": cluster.addresses["worker"][1:]}
    told = {
        **{"function": function, "file": file, "calls": calls, "clusters": [cluster.addresses, others]},
        **{"process": cluster.processes[job, 0].pid, "name": f"{job} 0 at {cluster.addresses[job][0]}"},
    }
    command = [sys.executable, "-c", COORDINATOR, json.dumps(told)]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE) as coordinator:
        try:
            said = "".join(beats_of(coordinator))
        finally:
            coordinator.kill()
    assert said.replace(".", "").replace("S", "") == f"{ends}D", said
    assert "S" in said, "the moment has not come"


def beats_of(coordinator: subprocess.Popen[bytes]) -> Iterator[str]:
    """Yield what a coordinator writes until it ends; fail if its heartbeat stops, or if it does not end."""
    assert coordinator.stdout is not None
    deadline = time.monotonic() + SECONDS_TO_END
    while select.select([coordinator.stdout], [], [], LONGEST_PAUSE)[0]:
        assert time.monotonic() < deadline, "the coordinator has not ended"
        if not (found := os.read(coordinator.stdout.fileno(), 1 << 16)):
            return
        yield found.decode()
    raise AssertionError(f"no thread of the coordinator has run for {LONGEST_PAUSE:.0f} s")
