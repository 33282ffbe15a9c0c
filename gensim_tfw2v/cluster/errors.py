"""The error of everything that goes wrong between the tasks of a cluster."""

from __future__ import annotations


class ClusterError(RuntimeError):
    """What is wrong with which task, and what to do about it."""
