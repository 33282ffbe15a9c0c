"""Python functions of one task that graphs of another task call by name.

TensorFlow looks up the token of a PyFunc in the registry of the process that executes the operation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from gensim_tfw2v.cluster.errors import ClusterError, TaskError, brief
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.runtime import private_tensorflow
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

_NO_TASKS = "/job:none"  # a session is on its own task even if its filter names no task
_registered: dict[str, Callable[..., Any]] = {}  # TensorFlow's registry holds weak references only


def register(name: str, function: Callable[..., Any]) -> None:
    """Let graphs that this process executes call `function`, which takes and returns arrays."""
    load_tensorflow()
    _registered[name] = function
    private_tensorflow.name_python_function(name, function)


def call(name: str, arguments: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
    """Return the results, tensors of dtypes `outputs`, of the function of this name on the current device's task."""
    tf = load_tensorflow()
    return list(tf.raw_ops.PyFunc(input=list(arguments), token=name, Tout=list(outputs)))


def ask(device: str, name: str, arguments: Sequence[Any]) -> bytes:
    """Return the bytes that the function of this name returns on the task of a device."""
    tf = load_tensorflow()
    try:
        with tf.device(device):
            (found,) = call(name, arguments, [tf.string])
        answer: bytes = found.numpy()
        return answer
    except tf.errors.OpError:
        clear_error()
        raise


def ask_task(address: str, function: str, text: str, seconds: float) -> str:
    """Return the answer of a task's function, which takes and returns text.

    This process coordinates no cluster and has no port of its own, so it asks in a session. Raise ClusterError if the
    task does not answer within these seconds, has no such function, or refuses the text.
    """
    if not answers(address):
        raise ClusterError(f"no answer from {address}")
    tf = load_tensorflow()
    graph = tf.Graph()
    with graph.as_default():
        (answer,) = call(function, [tf.constant(text)], [tf.string])
    # Without a filter, the session would wait for all other tasks that the task knows.
    config = tf.compat.v1.ConfigProto(device_filters=[_NO_TASKS], operation_timeout_in_ms=round(seconds * 1000))
    try:
        with tf.compat.v1.Session(f"grpc://{address}", graph=graph, config=config) as session:
            found: Any = session.run(answer)
    except tf.errors.OpError as error:
        if is_missing_function(error):
            raise ClusterError(f"{address} was not started by `tfw2v server` of this version") from error
        reason = task_error_message(error)
        raise ClusterError(f"{address} does not answer: {brief(error)}" if reason is None else reason) from error
    return bytes(found).decode()


def call_for(name: str, arguments: Sequence[Any], specs: Any) -> Any:
    """Return the results of the function of this name as a structure of tensors that have these specs."""
    found = call(name, arguments, [spec.dtype for spec in load_tensorflow().nest.flatten(specs)])
    return with_specs(found, specs)


def with_specs(tensors: Sequence[Any], specs: Any) -> Any:
    """Return flat tensors as a structure of these specs, whose shapes they get."""
    nest = load_tensorflow().nest
    for tensor, spec in zip(tensors, nest.flatten(specs), strict=True):
        tensor.set_shape(spec.shape)
    return nest.pack_sequence_as(specs, tensors)


def local(value: Any) -> Any:
    """Return a tensor in this process, for an operation on another task's device.

    TensorFlow sends a tensor made on that device while it holds Python's lock: a task that does not answer would then
    block every thread of this process.
    """
    tf = load_tensorflow()
    with tf.device(None):
        return tf.constant(value)


def sent_to(device: str, value: Any) -> Any:
    """Return a tensor on another task's device, for a graph that runs on several tasks.

    Such a graph fetches its arguments from where they are. Tensors of this process would be fetched from its port,
    which answers only its own machine.
    """
    tf, own = load_tensorflow(), local(value)
    with tf.device(device):
        return tf.raw_ops.Identity(input=own)


def clear_error() -> None:
    """Clear the error of this thread's last operation on another task, once it has been handled."""
    load_tensorflow()
    private_tensorflow.clear_error()


def is_missing_function(error: Exception) -> bool:
    """Return whether a call failed because its task has no function of that name."""
    return "Could not find callback" in str(error)


def task_error_message(error: Exception) -> str | None:
    """Return the message of a `TaskError` that a task's function raised, None for other errors."""
    found = re.search(rf"{TaskError.__name__}: (.*)", str(error))
    return found[1] if found else None
