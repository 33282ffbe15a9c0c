"""Errors of a cluster's tasks, and of calls between them."""

from __future__ import annotations


class ClusterError(RuntimeError):
    """Says what is wrong with which task, and what to do about it."""


def brief(error: Exception) -> str:
    """Return the beginning of TensorFlow's message, in one line."""
    return " ".join(str(error).split())[:300]


class TaskError(Exception):
    """Raised in a task that cannot do its work, with one line for the coordinator's user."""
