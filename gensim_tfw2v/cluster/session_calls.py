"""Calls of a single task by a process that coordinates no cluster and has no port of its own: sessions."""

from __future__ import annotations

from typing import Any

from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.errors import ClusterError, brief
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

_NO_TASKS = "/job:none"  # a session is on its own task even if its filter names no task


def ask_task(address: str, function: str, text: str, seconds: float) -> str:
    """Return the answer of a task's function, which takes and returns text.

    Raise ClusterError if the task does not answer within these seconds, has no such function, or refuses the text.
    """
    if not answers(address):
        raise ClusterError(f"no answer from {address}")
    tf = load_tensorflow()
    graph = tf.Graph()
    with graph.as_default():
        (answer,) = remote_functions.call(function, [tf.constant(text)], [tf.string])
    # Without a filter, the session would wait for all other tasks that the task knows.
    config = tf.compat.v1.ConfigProto(device_filters=[_NO_TASKS], operation_timeout_in_ms=round(seconds * 1000))
    try:
        with tf.compat.v1.Session(f"grpc://{address}", graph=graph, config=config) as session:
            found: Any = session.run(answer)
    except tf.errors.OpError as error:
        if remote_functions.is_missing_function(error):
            raise ClusterError(f"{address} was not started by `tfw2v server` of this version") from error
        reason = remote_functions.task_error_message(error)
        raise ClusterError(f"{address} does not answer: {brief(error)}" if reason is None else reason) from error
    return bytes(found).decode()
