"""One task of a cluster: what its graphs may call by name, and a process that serves until a signal ends it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gensim_tfw2v.cluster.errors import ClusterError, brief
from gensim_tfw2v.cluster.exposure import exposure_of
from gensim_tfw2v.cluster.health import is_taken
from gensim_tfw2v.cluster.remote_functions import register
from gensim_tfw2v.cluster.specification import address_of, port_of, workers_beside
from gensim_tfw2v.cluster.task import Task, register_task
from gensim_tfw2v.placement.tasks.block_factory import REGISTER_MODEL, BlockFactory
from gensim_tfw2v.placement.tasks.block_kind import BlockKind
from gensim_tfw2v.placement.tasks.encoding_processes import ENCODE, EncodingProcesses
from gensim_tfw2v.runtime.cores import allowed_cores
from gensim_tfw2v.runtime.end_signals import EndSignals
from gensim_tfw2v.runtime.tensorflow import load_tensorflow, usable_cores
from gensim_tfw2v.steps.kernel import kernel, load_kernel

_SECONDS_BETWEEN_CHECKS = 0.5
_LEAST_THREADS = 4  # because some of them wait for other tasks


def register_functions(cores: int = 1) -> None:
    """Add this package's functions to a process; call it before you start a `tf.distribute.Server` of your own there.

    Parameters
    ----------
    cores : int
        Cores with which a worker trains a block side by side. The server needs as many inter-op threads, and some more.
    """
    if cores < 1:
        raise ValueError(f"a worker trains with at least one core, got cores={cores!r}")
    load_kernel()  # the graphs that come here consist of its operations
    factory = BlockFactory(cores)
    register_task(Task(factory.details))
    register(REGISTER_MODEL, factory.register_model)
    register(ENCODE, EncodingProcesses().answer)
    for kind in _block_kinds():
        register(kind.function, partial(factory.made, kind))
    for name, function in _functions_of_columns(factory).items():
        register(name, function)


def _block_kinds() -> list[BlockKind[Any]]:
    """Return the kinds of blocks that the designs' graphs train; TensorFlow must be loaded."""
    from gensim_tfw2v.placement.averaging.round_block import OWN_BLOCK
    from gensim_tfw2v.placement.columns.column_blocks import COLUMN_BLOCK
    from gensim_tfw2v.placement.lbfgs.portion import PORTION
    from gensim_tfw2v.placement.partition.share_block import SHARE_BLOCK
    from gensim_tfw2v.placement.server_rows.staging import STAGED_BLOCK
    from gensim_tfw2v.placement.tasks.plain_block import PLAIN_BLOCK

    return [PLAIN_BLOCK, STAGED_BLOCK, OWN_BLOCK, SHARE_BLOCK, PORTION, COLUMN_BLOCK]


def _functions_of_columns(factory: BlockFactory) -> Mapping[str, Callable[..., Any]]:
    from gensim_tfw2v.placement.columns.kept_blocks import KeptBlocks

    return KeptBlocks(factory).functions()


def serve(
    job: str,
    task: int,
    cluster: Mapping[str, Sequence[str]],
    parent: int | None = None,
    allow_network: bool = False,
    insecure: bool = False,
    cores: int | None = None,
) -> None:
    """Run a task of the cluster until SIGTERM or SIGINT.

    Parameters
    ----------
    job, task
        "ps" or "worker", and the position of this task's address in that job's list.
    cluster
        Addresses ("host:port") by job.
    parent
        The process that started this one. The task ends as soon as that process has ended.
    allow_network
        Whether the task's address may be on a network. The port then answers the interface of that address alone.
    insecure
        Whether the port may answer every interface if this system cannot keep it to one.
    cores
        How many cores of a worker train a block side by side. Default: an equal share, beside the other workers of the
        cluster on this host, of those that this process may use.
    """
    if _is_orphan(parent):
        return
    end = EndSignals()
    address = address_of(job, task, cluster)
    exposure = exposure_of(f"{job} {task}", address, allow_network, insecure)
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")  # tables and steps need the processor only
    used_cores = _cores_of(job, task, cluster, cores)
    if used_cores == 1:
        # Steps run one at a time. Then oneDNN's own memory pool costs less time and memory than the C library's
        # allocator, which `load_tensorflow` chooses for processes with concurrent steps.
        os.environ.setdefault("TF_ONEDNN_USE_SYSTEM_ALLOCATOR", "0")
    tf = load_tensorflow()
    register_functions(used_cores)
    spec = tf.train.ClusterSpec({name: list(addresses) for name, addresses in cluster.items()})
    own = {"job_name": job, "task_index": task, "protocol": "grpc", "config": _configuration(tf, used_cores)}
    try:
        server = tf.distribute.Server(spec, **own, start=False)  # listens, and answers no call yet
    except tf.errors.OpError as error:
        port = port_of(address)
        reason = f"port {port} is taken by another process" if is_taken(port) else brief(error)
        raise ClusterError(f"cannot serve at {address}: {reason}") from error
    exposure.apply()
    server.start()
    kernel()  # tests it on the devices as the server has set them up
    print(f"tfw2v server: {job} {task} of {address} is ready (process {os.getpid()}). Open to {exposure}", flush=True)
    while not end.wait(_SECONDS_BETWEEN_CHECKS):
        if _is_orphan(parent):
            break
    del server
    os._exit(0)  # only the end of its process stops a TensorFlow server


def _cores_of(job: str, task: int, cluster: Mapping[str, Sequence[str]], wanted: int | None) -> int:
    """Return how many cores of a task train a block: 1 for a server, which trains none."""
    if job != "worker":
        return 1
    return wanted or max(1, allowed_cores() // workers_beside(task, cluster[job]))


def _configuration(tf: Any, cores: int) -> Any:
    """Return the threads of a task in which so many cores train a block."""
    threads = _LEAST_THREADS if cores == 1 else cores + _LEAST_THREADS  # other calls need some while cores train
    config = tf.compat.v1.ConfigProto(
        intra_op_parallelism_threads=1, inter_op_parallelism_threads=max(threads, usable_cores())
    )
    config.experimental.disable_thread_spinning = True  # blocks are few and long: waiting threads should sleep
    return config


def _is_orphan(parent: int | None) -> bool:
    return parent is not None and os.getppid() != parent
