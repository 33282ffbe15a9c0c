"""Trains on a cluster and in this process, and compares.

Argument: a file of addresses, `env`, or `local` for a cluster of this machine. Commands: `train [allow_network]`
answers with the largest difference of a vector trained on the cluster from the one trained here, the ports of the
cluster's tasks, and the interfaces of the ports at which this process listens; or with the error.
"""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from support.contract import SENTENCES, SMALL

from gensim_tfw2v import ClusterError, TFWord2Vec, local_cluster
from gensim_tfw2v.cluster import listening, strategy
from gensim_tfw2v.cluster.specification import addresses_of, read_file
from gensim_tfw2v.runtime.system import bound_interface


def trained(**cluster: Any) -> TFWord2Vec:
    """Return a model of which one block after the other has been trained."""
    return TFWord2Vec(SENTENCES, **SMALL | {"workers": 1}, **cluster)


def answer(cluster: Any, allow_network: bool) -> dict[str, Any]:
    """Return what the program prints."""
    try:
        model = trained(cluster=cluster, allow_network=allow_network)
    except ClusterError as error:
        return {"error": str(error)}
    ports = strategy.own_port()
    interfaces = [bound_interface(one) for one in listening._own_sockets(ports) if listening._is_listening(one)]
    tasks = [address for job in addresses_of(cluster).values() for address in job]
    return {
        "difference": float(np.abs(model.wv.vectors - trained().wv.vectors).max()),
        "interfaces": interfaces,
        "ports": [int(address.rpartition(":")[2]) for address in tasks],
    }


def cluster_of(argument: str) -> Any:
    """Return a context of the cluster that the argument means."""
    if argument == "local":
        return local_cluster()
    return contextlib.nullcontext(argument if argument == "env" else read_file(Path(argument)))


with cluster_of(sys.argv[1]) as cluster:
    for line in sys.stdin:
        print(json.dumps(answer(cluster, "allow_network" in line)), flush=True)
