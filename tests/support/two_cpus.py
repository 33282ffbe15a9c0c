"""A cluster whose workers have two CPU devices each, the second of which stands in for a GPU."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from gensim_tfw2v.cluster.connection import disconnect
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.cluster.local import free_addresses
from gensim_tfw2v.cluster.specification import Addresses
from support.child_process import environment, wait_until

_TASK = """
import json, os, sys
from gensim_tfw2v.cluster.specification import OwnTask
from gensim_tfw2v.placement import server
configuration = server._configuration
def with_two_cpus(tf, cores):
    config = configuration(tf, cores)
    config.device_count["CPU"] = 2
    return config
server._configuration = with_two_cpus
server.serve(OwnTask(*json.loads(sys.argv[1])), parent=os.getppid(), cores=2)
"""


@contextmanager
def two_cpu_cluster(ps: int = 1, workers: int = 2) -> Iterator[Addresses]:
    """Run such a cluster, whose workers have two cores, for the length of a ``with`` block, and yield its addresses."""
    cluster: Addresses = {"ps": free_addresses(ps), "worker": free_addresses(workers)}
    with ExitStack() as stack:
        for job, addresses in cluster.items():
            for task in range(len(addresses)):
                command = [sys.executable, "-c", _TASK, json.dumps([job, task, cluster])]
                process = stack.enter_context(
                    subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                )
                stack.callback(process.kill)
        stack.callback(disconnect, cluster)
        for address in itertools.chain(*cluster.values()):
            wait_until(partial(answers, address))
        yield cluster
