"""Whether this process was forked from one that TensorFlow ran in, and so lacks the threads that do TensorFlow's work.

This is looked at when a process is forked, so the package has to be imported before; it imports this module at once.
"""

from __future__ import annotations

import os
import sys

_RAN_IN: dict[str, int] = {}


def watch_forks() -> None:
    """Note from now on in every forked process whether TensorFlow ran at that moment, and in this one if it shows."""
    os.register_at_fork(after_in_child=_note_parent)
    if _has_one_thread():  # were TensorFlow started in this process, its threads would be there, too
        _note_parent()


def refuse_forked_process() -> None:
    """Raise RuntimeError in a process forked from one that TensorFlow ran in: its threads are not there to work."""
    if _RAN_IN:
        raise RuntimeError(
            f"TensorFlow was started in process {_RAN_IN['process']} and cannot be used in process {os.getpid()}, "
            "which was forked from it: it would wait for ever; start processes with "
            "multiprocessing.get_context('spawn'), or use TensorFlow in this process's parent only after the fork"
        )


def _note_parent() -> None:
    """Note the process that this one was forked from, if TensorFlow ran there."""
    # TensorFlow starts its threads with its first operation, not when it is imported.
    module = sys.modules.get("tensorflow.python.eager.context")
    context = getattr(module, "_context", None)
    if getattr(context, "_context_handle", None) is not None:
        _RAN_IN.setdefault("process", os.getppid())


def _has_one_thread() -> bool:
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False
