"""One task of a cluster: what its graphs may call by name, and a process that serves until a signal ends it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gensim_tfw2v.cluster.errors import ClusterError, brief
from gensim_tfw2v.cluster.exposure import exposure_of
from gensim_tfw2v.cluster.health import is_taken
from gensim_tfw2v.cluster.remote_functions import register
from gensim_tfw2v.cluster.specification import port_of
from gensim_tfw2v.cluster.task import Task, register_task
from gensim_tfw2v.operations import load_operations, operations
from gensim_tfw2v.placement.tasks.block_factory import REGISTER_MODEL, BlockFactory
from gensim_tfw2v.placement.tasks.block_kind import BlockKind
from gensim_tfw2v.runtime.tensorflow import load_tensorflow, usable_cores

_SECONDS_BETWEEN_CHECKS = 0.5
_LEAST_THREADS = 4  # because some of them wait for other tasks


def register_functions() -> None:
    """Make this process able to be a task: call it before starting a `tf.distribute.Server` of your own."""
    load_operations()  # the graphs that come here consist of them
    factory = BlockFactory()
    register_task(Task(factory.details))
    register(REGISTER_MODEL, factory.register_model)
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
    """
    if _is_orphan(parent):
        return
    stop = threading.Event()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signal_number, lambda *_: stop.set())
    address = _address(job, task, cluster)
    exposure = exposure_of(f"{job} {task}", address, allow_network, insecure)
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")  # tables and steps need the processor only
    # A task trains one step at a time. Then oneDNN's own memory pool costs less time and memory than the C library's
    # allocator, which `load_tensorflow` chooses for processes with concurrent steps.
    os.environ.setdefault("TF_ONEDNN_USE_SYSTEM_ALLOCATOR", "0")
    tf = load_tensorflow()
    register_functions()
    spec = tf.train.ClusterSpec({name: list(addresses) for name, addresses in cluster.items()})
    own = {"job_name": job, "task_index": task, "protocol": "grpc", "config": _configuration(tf)}
    try:
        server = tf.distribute.Server(spec, **own, start=False)  # listens, and answers no call yet
    except tf.errors.OpError as error:
        port = port_of(address)
        reason = f"port {port} is taken by another process" if is_taken(port) else brief(error)
        raise ClusterError(f"cannot serve at {address}: {reason}") from error
    exposure.apply()
    server.start()
    operations()  # tests them on the devices as the server has set them up
    print(f"tfw2v server: {job} {task} of {address} is ready (process {os.getpid()}). Open to {exposure}", flush=True)
    while not stop.wait(_SECONDS_BETWEEN_CHECKS):
        if _is_orphan(parent):
            break
    del server
    os._exit(0)  # only the end of its process stops a TensorFlow server


def _configuration(tf: Any) -> Any:
    """Return the threads of a task."""
    config = tf.compat.v1.ConfigProto(
        intra_op_parallelism_threads=1, inter_op_parallelism_threads=max(_LEAST_THREADS, usable_cores())
    )
    config.experimental.disable_thread_spinning = True  # blocks are few and long: waiting threads should sleep
    return config


def _is_orphan(parent: int | None) -> bool:
    return parent is not None and os.getppid() != parent


def _address(job: str, task: int, cluster: Mapping[str, Sequence[str]]) -> str:
    addresses = cluster.get(job, ())
    if not 0 <= task < len(addresses):
        raise ClusterError(f"the cluster has no task {task} of job {job!r}: it has {len(addresses)} of them")
    return addresses[task]
