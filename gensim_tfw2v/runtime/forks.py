"""A guard against forks: a process forked after TensorFlow started lacks the threads that do TensorFlow's work.

A fork is noticed only if `watch_forks` was called before it, so importing the package calls it.
"""

from __future__ import annotations

import os

from gensim_tfw2v.runtime.private_tensorflow import has_started
from gensim_tfw2v.runtime.system import PROC, call_after_fork

_RAN_IN: dict[str, int] = {}


def watch_forks() -> None:
    """Make every forked process note whether TensorFlow ran at the fork; do so in this process if it may be a fork."""
    call_after_fork(_note_parent)
    if _has_one_thread():  # if TensorFlow had started in this process, it would have more threads
        _note_parent()


def refuse_forked_process() -> None:
    """Raise RuntimeError if this process was forked from one in which TensorFlow ran."""
    if _RAN_IN:
        raise RuntimeError(
            f"TensorFlow was started in process {_RAN_IN['process']} and cannot be used in process {os.getpid()}, "
            "which was forked from it: it would wait forever; start processes with "
            "multiprocessing.get_context('spawn'), or use TensorFlow in this process's parent only after the fork"
        )


def _note_parent() -> None:
    """Note the parent process if TensorFlow ran in it."""
    if has_started():
        _RAN_IN.setdefault("process", os.getppid())


def _has_one_thread() -> bool:
    try:
        return len(os.listdir(PROC / "self/task")) == 1
    except OSError:
        return False
