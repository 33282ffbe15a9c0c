"""Python functions of one task that graphs of another call by name.

TensorFlow looks a PyFunc's token up in the registry of the process that executes the operation. Entering functions
there under names of our own is the one thing that its public interface has no way for; nothing else here uses private
parts of it for this.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from gensim_tfw2v.cluster.errors import TaskError
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

_registered: dict[str, Callable[..., Any]] = {}  # TensorFlow's registry holds weak references only


def register(name: str, function: Callable[..., Any]) -> None:
    """Let graphs that this process executes call `function`, which takes and returns arrays."""
    load_tensorflow()
    from tensorflow.python.ops import script_ops

    _registered[name] = function
    script_ops._py_funcs._funcs[name] = function


def call(name: str, arguments: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
    """Return the tensors, of dtypes `outputs`, that the function of this name gives on the current device's task."""
    tf = load_tensorflow()
    return list(tf.raw_ops.PyFunc(input=list(arguments), token=name, Tout=list(outputs)))


def local(value: Any) -> Any:
    """Return a tensor in this process, for an operation on another task's device.

    One made on that device would be sent there with Python's lock held, so that a task which does not answer would
    stop every thread of this process.
    """
    tf = load_tensorflow()
    with tf.device(None):
        return tf.constant(value)


def is_missing_function(error: Exception) -> bool:
    """Return whether a call failed because its task has no function of that name."""
    return "Could not find callback" in str(error)


def said_by_task(error: Exception) -> str | None:
    """Return the message of a `TaskError` that a task's function raised, None if the error is another one."""
    found = re.search(rf"{TaskError.__name__}: (.*)", str(error))
    return found[1] if found else None
