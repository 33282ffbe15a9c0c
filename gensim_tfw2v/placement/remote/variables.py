"""Calls of tasks that tables need: about their leases, and to free variables by their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import Connection, device
from gensim_tfw2v.cluster.task import END_LEASE
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

TaskName = tuple[str, int]
"""A task's job and number."""


def servers_of(connection: Connection) -> tuple[TaskName, ...]:
    """Return all parameter servers."""
    return tuple(("ps", server) for server in range(connection.servers))


def free_lease(tasks: Sequence[TaskName], lease: str, names: list[str]) -> None:
    """Free the tables of a lease by the names that its coordinator recorded, and end the lease."""
    for task in tasks:
        for name in names:  # a task without a part of a table ignores it
            destroy(task, f"{lease}/{name}")
        call_task(task, END_LEASE, lease)


def destroy(task: TaskName, name: str) -> None:
    """Free a variable, if the task has one of this name."""
    tf = load_tensorflow()
    with tf.device(device(*task)):
        handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[], shared_name=name)
        tf.raw_ops.DestroyResourceOp(resource=handle, ignore_lookup_error=True)


def call_task(task: TaskName, function: str, *arguments: Any, output: Any = None) -> None:
    """Call a function of a task by its name; it returns a tensor of `output`, by default of bool."""
    tf = load_tensorflow()
    sent = [remote_functions.local(argument) for argument in arguments]
    with tf.device(device(*task)):
        remote_functions.call(function, sent, [output or tf.bool])
