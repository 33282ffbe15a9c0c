"""Calls of tasks that tables need: about their leases, and to make and free variables by their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import Connection, device
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.task import END_LEASE
from gensim_tfw2v.runtime.private_tensorflow import create_in_turn
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

TaskName = tuple[str, int]
"""A task's job and number."""
_MOST_TURNS = 1000  # of other variables, before a server's turn comes


def servers_of(connection: Connection) -> tuple[TaskName, ...]:
    """Return all parameter servers."""
    return tuple(("ps", server) for server in range(connection.servers))


def make_variable(task: TaskName, name: str, value: Callable[[], Any], shape: Any = None) -> Any:
    """Return the handle of a variable of this name, with a value that is made on the task.

    Parameters
    ----------
    shape : optional
        That of all values, by default the first one's.
    """
    tf = load_tensorflow()
    with tf.device(device(*task)):
        initial = value()
        shape = initial.shape if shape is None else shape
        handle = tf.raw_ops.VarHandleOp(dtype=initial.dtype, shape=shape, shared_name=name)
        tf.raw_ops.AssignVariableOp(resource=handle, value=initial)
    return handle


@dataclass(frozen=True)
class _Variable:
    """What a strategy looks at in a variable that was made in its scope."""

    name: str
    shape: tuple[int, ...]


def make_in_turn(strategy: Any, task: TaskName, name: str, value: Callable[[], Any], shape: tuple[int, ...]) -> Any:
    """Return the handle of a float32 variable of this name on a server, at the server's turn.

    TensorFlow's strategy places variables on the servers in turn. It has no name for its own variables by which another
    process could free them. So the variable is made here, on the device that the strategy has chosen.
    """
    tf = load_tensorflow()
    made: list[Any] = []

    def make(**_: Any) -> _Variable:
        handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=shape, shared_name=name)  # takes no memory there
        if handle.device == device(*task):
            tf.raw_ops.AssignVariableOp(resource=handle, value=value())
            made.append(handle)
        return _Variable(name, shape)

    for _ in range(_MOST_TURNS):  # more than one if the user's own variables have had some
        create_in_turn(strategy, make)
        if made:
            return made[0]
    raise ClusterError(f"TensorFlow's strategy places no variable on {task[0]} {task[1]}")


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
