"""One task of a cluster: what its graphs may call by name, and a process that serves until it is to end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NoReturn

from gensim_tfw2v.cluster.errors import ClusterError, TaskError, brief
from gensim_tfw2v.cluster.exposure import exposure_of
from gensim_tfw2v.cluster.health import is_taken
from gensim_tfw2v.cluster.notices import ASK_TO_LEAVE, Notices, WorkerNotices
from gensim_tfw2v.cluster.remote_functions import register
from gensim_tfw2v.cluster.specification import OwnTask, port_of, workers_beside
from gensim_tfw2v.cluster.task import Task
from gensim_tfw2v.placement.tasks.block_factory import REGISTER_MODEL, BlockFactory
from gensim_tfw2v.placement.tasks.block_kind import BlockKind
from gensim_tfw2v.placement.tasks.encoding_processes import ENCODE, EncodingProcesses
from gensim_tfw2v.runtime.cores import allowed_cores
from gensim_tfw2v.runtime.devices import GPU, devices
from gensim_tfw2v.runtime.end_signals import EndSignals
from gensim_tfw2v.runtime.tensorflow import load_tensorflow, usable_cores
from gensim_tfw2v.steps.kernel import COMPILED, kernel, load_kernel

_SECONDS_BETWEEN_CHECKS = 0.5
_LEAST_THREADS = 4  # because some of them wait for other tasks


def register_functions(cores: int = 1) -> None:
    """Add this package's functions to a process; call it before you start a `tf.distribute.Server` of your own there.

    Parameters
    ----------
    cores : int
        Cores with which a worker trains a block side by side. The server needs as many inter-op threads, and some more.

    Examples
    --------
    >>> from gensim_tfw2v import register_task_functions
    >>> register_task_functions(cores=8)  # doctest: +SKIP
    >>> server = tf.distribute.Server(addresses, job_name="worker", task_index=0)  # doctest: +SKIP
    """
    if cores < 1:
        raise ValueError(f"a worker trains with at least one core, got cores={cores!r}")
    load_kernel()  # the graphs that come here consist of its operations
    factory = BlockFactory(cores)
    Task(factory.details).register()
    Notices(factory.details).register()
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
    from gensim_tfw2v.placement.columns.column_blocks import KeptBlocks

    return KeptBlocks(factory).functions()


def serve(
    task: OwnTask,
    parent: int | None = None,
    allow_network: bool = False,
    insecure: bool = False,
    cores: int | None = None,
    gpu: int | None = None,
) -> None:
    """Run a task of the cluster until SIGTERM or SIGINT; a worker may then train its block to the end.

    Parameters
    ----------
    parent
        The process that started this one. The task ends as soon as that process has ended, or sends a signal.
    allow_network
        Whether the task's address may be on a network. The port then answers the interface of that address alone.
    insecure
        Whether the port may answer every interface if this system cannot keep it to one.
    cores
        How many cores of a worker train a block side by side. Default: an equal share, beside the other workers of the
        cluster on this host, of those that this process may use.
    gpu
        The number of the GPU that the task may use. Default: those that CUDA_VISIBLE_DEVICES names, or none.
    """
    if _is_orphan(parent):
        return
    end = EndSignals()
    job, address = task.job, task.address
    exposure = exposure_of(task.name, address, allow_network, insecure)
    _choose_gpu(gpu)
    used_cores = _cores_of(task, cores)
    if used_cores == 1:
        # Steps run one at a time. Then oneDNN's own memory pool costs less time and memory than the C library's
        # allocator, which `load_tensorflow` chooses for processes with concurrent steps.
        os.environ.setdefault("TF_ONEDNN_USE_SYSTEM_ALLOCATOR", "0")
    tf = load_tensorflow()
    _check_gpu(gpu)
    register_functions(used_cores)
    notices = WorkerNotices(address, task.cluster["ps"][0], task.joins, _can_step) if job == "worker" else None
    register(ASK_TO_LEAVE, partial(_refuse_to_leave, task.number) if notices is None else notices.ask_to_leave)
    spec = tf.train.ClusterSpec({name: list(addresses) for name, addresses in task.cluster.items()})
    own = {"job_name": job, "task_index": task.number, "protocol": "grpc", "config": _configuration(tf, used_cores)}
    try:
        server = tf.distribute.Server(spec, **own, start=False)  # listens, and answers no call yet
    except tf.errors.OpError as error:
        port = port_of(address)
        reason = f"port {port} is taken by another process" if is_taken(port) else brief(error)
        raise ClusterError(f"cannot serve at {address}: {reason}") from error
    exposure.apply()
    server.start()
    kernel()  # tests it on the devices as the server has set them up
    ready = f"tfw2v server: {task.name} of {address} is ready (process {os.getpid()}). Open to {exposure}"
    print(ready + "\n", end="", flush=True)  # one write also if Python does not buffer, so that tasks do not mix lines
    _end_process(_wait_for_end(lambda: end.wait(_SECONDS_BETWEEN_CHECKS) or _is_orphan(parent), notices, parent))


def _choose_gpu(number: int | None) -> None:
    """Have TensorFlow see one GPU, or none unless the environment names some: most tasks need the processor only."""
    if number is None:
        os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    else:
        os.environ["CUDA_VISIBLE_DEVICES"] = str(number)


def _check_gpu(number: int | None) -> None:
    """Raise ClusterError if the task is to use a GPU that is not there."""
    if number is not None and not any(one.kind == GPU for one in devices()):
        raise ClusterError(
            f"TensorFlow finds no GPU {number} here: nvidia-smi lists those there are, and pip install "
            "'.[gpu]' in a clone adds what TensorFlow needs"
        )


def _wait_for_end(may_end: Callable[[], bool], notices: WorkerNotices | None, parent: int | None) -> int:
    """Return the exit code of this process once it is to end; a worker has posted its notices until then.

    Parameters
    ----------
    may_end
        Waits some time, and returns whether a signal has come, or the parent has ended.
    """
    is_asked = False
    try:
        while not (may_end() or is_asked):
            is_asked = notices is not None and notices.look()
    except ClusterError as error:
        print(f"tfw2v server: {error}", file=sys.stderr, flush=True)
        return 1
    if notices is not None and (is_asked or parent is None):  # a parent ends its tasks when it needs them no more
        notices.leave(may_end)
    return 0


def _can_step(name: str) -> bool:
    """Return whether this process can run the graphs of a kernel of this name."""
    return name != COMPILED or kernel().name == COMPILED


def _end_process(code: int) -> NoReturn:
    """End this process at once: nothing else stops a TensorFlow server."""
    sys.stdout.flush()
    os._exit(code)


def _refuse_to_leave(task: int, _text: bytes) -> NoReturn:
    raise TaskError(f"ps {task} has vectors, and only workers can leave a training; restart a server at its address")


def _cores_of(task: OwnTask, wanted: int | None) -> int:
    """Return how many cores of a task train a block: 1 for a server, which trains none."""
    if task.job != "worker":
        return 1
    return wanted or max(1, allowed_cores() // workers_beside(task.number, task.cluster[task.job]))


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
