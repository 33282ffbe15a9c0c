"""The former place of `register_functions`."""

from __future__ import annotations

import importlib
import warnings


def register_functions() -> None:
    """Make this process able to be a task; use `gensim_tfw2v.register_task_functions` instead."""
    warnings.warn(
        "gensim_tfw2v.cluster.task_functions.register_functions is now gensim_tfw2v.register_task_functions; the old "
        "name goes away in 0.3.0",
        DeprecationWarning,
        stacklevel=2,
    )
    importlib.import_module("gensim_tfw2v").register_task_functions()
