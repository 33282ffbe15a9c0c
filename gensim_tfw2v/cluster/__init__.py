"""Tasks of a TensorFlow cluster: starting them, connecting to them, and what they do for each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["ClusterError", "local_cluster", "register_functions"]

if TYPE_CHECKING:
    from gensim_tfw2v.cluster.errors import ClusterError
    from gensim_tfw2v.cluster.local import local_cluster
    from gensim_tfw2v.cluster.task_functions import register_functions

_HOMES = {"ClusterError": "errors", "local_cluster": "local", "register_functions": "task_functions"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        import importlib

        return getattr(importlib.import_module(f"gensim_tfw2v.cluster.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
