"""The errors of what goes wrong between the tasks of a cluster, and within one of them."""

from __future__ import annotations


class ClusterError(RuntimeError):
    """What is wrong with which task, and what to do about it."""


def brief(error: Exception) -> str:
    """Return the beginning of what TensorFlow says, in one line."""
    return " ".join(str(error).split())[:300]


class TaskError(Exception):
    """What a task tells the coordinator's user in one line, when it cannot do what it was asked for."""
