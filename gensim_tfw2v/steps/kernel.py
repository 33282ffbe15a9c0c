"""What a graph reads and trains tables with: a kernel, of which there are two, and which one a device uses.

`compiled` consists of the package's C operations. In it, each run of tokens moves its rows before the next run reads
any. `plain` consists of TensorFlow's own operations. It is slower, and runs wherever TensorFlow does. In it, rows move
once a batch of many runs is computed. GPUs have the plain one alone.
"""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Callable
from typing import Any, NamedTuple

from gensim_tfw2v.runtime.devices import CPU, Device

logger = logging.getLogger(__name__)

COMPILED, PLAIN = "compiled", "plain"


class Kernel(NamedTuple):
    """Functions that add operations to a graph, or run them at once.

    `docs/how-it-works/pipeline.md` says what each of them does. Their arguments are the inputs and attributes of the C
    operations (`gensim_tfw2v/operations`).
    """

    name: str
    memory_of: Callable[[Any], Any]  # the handle of a table's variable → what the next ones take as the table
    copy_of: Callable[[Any], Any]  # rows [n, D], of no variable → a copy of them
    # Takes an objective, tables as handles, block, rates and a span; returns the metrics of its batches.
    train: Callable[..., Any]
    read_rows: Callable[..., Any]
    write_rows: Callable[..., Any]
    add_rows: Callable[..., Any]
    id_type: str = "int32"  # of ids and numbers of contexts within a graph


def kernel_on(device: Device) -> Kernel:
    """Return the kernel of this process on a device."""
    return kernel() if device.kind == CPU else plain_kernel_of_gpu()


@functools.cache
def kernel() -> Kernel:
    """Return the kernel of this process.

    The environment variable ``TFW2V_STEP`` names one. Without it, this is the compiled kernel where its operations can
    be loaded. The first call may run operations (`gensim_tfw2v.operations.operations`).

    Raises
    ------
    ImportError
        If ``TFW2V_STEP=compiled`` and the operations cannot be loaded.
    """
    if chosen_kernel() == PLAIN:
        return plain_kernel()
    try:
        return compiled_kernel()
    except ImportError as error:
        if chosen_kernel() == COMPILED:
            raise
        _warn(error)
        return plain_kernel()


def chosen_kernel() -> str | None:
    """Return the name of the kernel that ``TFW2V_STEP`` names, or None if it names none."""
    name = os.environ.get("TFW2V_STEP") or None
    if name not in (None, COMPILED, PLAIN):
        raise ValueError(f"TFW2V_STEP is {name!r}; it must be 'compiled' or 'plain'")
    return name


def load_kernel() -> None:
    """Prepare this process for graphs of its kernel, without running an operation."""
    from gensim_tfw2v.operations import load_operations

    if chosen_kernel() == PLAIN:
        return
    try:
        load_operations()
    except ImportError:
        if chosen_kernel() == COMPILED:
            raise


@functools.cache
def compiled_kernel() -> Kernel:
    """Return the kernel of C operations; raise ImportError where they cannot be loaded."""
    from gensim_tfw2v.operations import operations
    from gensim_tfw2v.steps import compiled

    found = operations()
    read, write, add = (getattr(found, f"tfw2v_{name}_rows") for name in ("read", "write", "add"))
    return Kernel(COMPILED, compiled.memory_of, compiled.copy_of, compiled.train, read, write, add)


@functools.cache
def plain_kernel(id_type: str = "int32") -> Kernel:
    """Return the kernel of TensorFlow's own operations."""
    from gensim_tfw2v.steps.plain import batches, rows

    train = functools.partial(batches.train_batches, id_type=id_type)
    return Kernel(PLAIN, rows.memory_of, rows.copy_of, train, rows.read_rows, rows.write_rows, rows.add_rows, id_type)


@functools.cache
def plain_kernel_of_gpu() -> Kernel:
    """Return the kernel of TensorFlow's own operations for a GPU.

    TensorFlow keeps int32 numbers that a GPU's graph computes in the memory of the CPU, where it also computes with
    them. Those of 64 bits stay on the GPU.
    """
    return plain_kernel("int64")


def _warn(error: ImportError) -> None:
    logger.warning(
        "%s. Training uses TensorFlow's own operations instead. They take about three times as long for skip-gram with "
        "negative sampling, and more than ten times as long for other models",
        error,
    )
