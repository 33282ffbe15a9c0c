"""TensorFlow, imported when first needed, with its threads set for training and without start-up messages."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gensim_tfw2v.runtime.forks import refuse_forked_process
from gensim_tfw2v.runtime.processor import instruction_level
from gensim_tfw2v.runtime.start_messages import start_messages_held_back
from gensim_tfw2v.runtime.system import call_before_fork

logger = logging.getLogger(__name__)

_CHOSEN_HERE: set[str] = set()  # environment variables that this module set
_LOADING = threading.Lock()


@dataclass
class _ImportAhead:
    """An import of TensorFlow that this module began before it is needed."""

    thread: threading.Thread | None = None  # None also from when TensorFlow is ready to train


_IMPORT_AHEAD = _ImportAhead()


def usable_cores() -> int:
    """Return the number of cores this process may run on.

    The environment variable ``TFW2V_CORES`` gives another number: tests and benchmarks train with more threads than
    there are cores.
    """
    if pretended := os.environ.get("TFW2V_CORES"):
        return max(1, int(pretended))
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def is_tensorflow_loaded() -> bool:
    """Return whether TensorFlow has been imported, by this package or by the program."""
    return "tensorflow" in sys.modules and _IMPORT_AHEAD.thread is None


def import_ahead() -> None:
    """Begin to import TensorFlow in a thread, so that less of it is left when `load_tensorflow` is called.

    Call this where Python's lock stays free for seconds. Beside a loop in Python, the import takes several times as
    long, and makes the loop longer.
    """
    if not _LOADING.acquire(blocking=False):  # another thread loads it
        return
    try:
        if "tensorflow" not in sys.modules and _IMPORT_AHEAD.thread is None:
            _choose_for_import()
            # A daemon would be cut off in native code if the program ended meanwhile.
            _IMPORT_AHEAD.thread = threading.Thread(target=_import_or_leave, name="import-tensorflow")
            _IMPORT_AHEAD.thread.start()
    finally:
        _LOADING.release()


def load_tensorflow() -> Any:
    """Return the tensorflow module; the first call imports it and sets its thread pools."""
    refuse_forked_process()
    if not is_tensorflow_loaded():
        with _LOADING:
            if not is_tensorflow_loaded():
                _load()
    import tensorflow as tf

    return tf


def _load() -> None:
    logger.info("loading TensorFlow")
    began = time.perf_counter()
    _choose_for_import()
    if _IMPORT_AHEAD.thread is not None:
        _IMPORT_AHEAD.thread.join()
    with start_messages_held_back():
        tf = _import()
        _set_threads(tf)
        tf.constant(0)  # makes TensorFlow look for devices now, while messages about missing GPUs are held back
    _IMPORT_AHEAD.thread = None
    logger.info("TensorFlow is loaded, after %.1f s", time.perf_counter() - began)


def import_quietly() -> Any:
    """Return the tensorflow module, imported without start-up messages.

    TensorFlow does not start yet: a start takes memory of every GPU, which only training needs.
    """
    with start_messages_held_back():
        return _import()


def _import_or_leave() -> None:
    """Import TensorFlow. If this fails, `load_tensorflow` fails in the same way, in a thread that can report it."""
    with contextlib.suppress(BaseException), start_messages_held_back(), _ended_with_program():
        _import()


@contextlib.contextmanager
def _ended_with_program() -> Iterator[None]:
    """End this thread's imports at the next module once the main thread has ended, which waits for this one."""
    finder: Any = _EndingFinder(threading.current_thread())
    sys.meta_path.insert(0, finder)
    try:
        yield
    except SystemExit:  # no failure, for which messages that are held back would be shown
        pass
    finally:
        sys.meta_path.remove(finder)


@dataclass(frozen=True)
class _EndingFinder:
    """Finds no module. Ends a thread that looks for one after the main thread's end."""

    thread: threading.Thread

    def find_spec(self, *_: Any) -> None:
        """Raise SystemExit if the thread is to end. Modules handle an ImportError, but not this."""
        if threading.current_thread() is self.thread and not threading.main_thread().is_alive():
            raise SystemExit


def _wait_for_import() -> None:
    """Wait for an import ahead: a process forked meanwhile would wait forever for modules that the thread locks."""
    thread = _IMPORT_AHEAD.thread
    if thread is not None and thread is not threading.current_thread():
        thread.join()


call_before_fork(_wait_for_import)


def _import() -> Any:
    with _keras_left_for_later(), _garbage_left_for_later():
        import tensorflow as tf
    return tf


def check_runs_at_once() -> None:
    """Raise RuntimeError if TensorFlow would add operations to a graph instead of running them."""
    if not load_tensorflow().executing_eagerly():
        # Tensors of that graph would stay in caches and break later trainings.
        raise RuntimeError(
            "train() needs TensorFlow's eager execution, which is off here: call it outside of tf.function and of "
            "`with tf.Graph().as_default()`, and without tf.compat.v1.disable_eager_execution()"
        )


def _choose_for_import() -> None:
    """Set what TensorFlow reads when it is imported and the user has not chosen; not for tasks of this process."""
    # oneDNN's allocator has one pool for all threads. It gives memory that one step freed to a step on another core,
    # which then fetches it from the first core's cache. If the cores share no cache, two steps side by side take twice
    # their time (``benchmarks/allocators.py``). The C library keeps memory freed by different threads apart.
    chosen = {"TF_ONEDNN_USE_SYSTEM_ALLOCATOR": "1"}
    # TensorFlow itself uses oneDNN only on processors with instructions for neural networks. With AVX2 alone, oneDNN
    # already multiplies small matrices several times as fast as Eigen (``benchmarks/profile_step.py``).
    if instruction_level() != "baseline":
        chosen["TF_ENABLE_ONEDNN_OPTS"] = "1"
    chosen["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"  # otherwise TensorFlow takes nearly all memory of every GPU at once
    for variable in chosen.keys() - os.environ.keys():
        os.environ[variable] = chosen[variable]
        _CHOSEN_HERE.add(variable)


def environment_for_tasks() -> dict[str, str]:
    """Return this process's environment without the variables that this module set for its own TensorFlow."""
    return {name: value for name, value in os.environ.items() if name not in _CHOSEN_HERE}


@contextlib.contextmanager
def _keras_left_for_later() -> Iterator[None]:
    """Keep ``import tensorflow`` from importing Keras, which this package does not use.

    TensorFlow's last import is that of Keras' optimizers, and TensorFlow does without them if there is no Keras. They
    would also import scikit-learn, matplotlib and pandas, if installed. ``tf.keras`` imports Keras when it is first
    used.
    """
    name = "keras.src.optimizers"
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]  # importing it fails as if Keras were not installed
    try:
        yield
    finally:
        del sys.modules[name]


@contextlib.contextmanager
def _garbage_left_for_later() -> Iterator[None]:
    """Pause Python's garbage collection while it makes the objects of thousands of modules, none of them garbage.

    Collections would take a good part of the import. Afterwards the objects are moved to the oldest generation.
    Otherwise the first collection of new objects would scan them all, which takes a sixth of training a small model.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
        if not gc.get_freeze_count():  # gc.unfreeze() would also release objects that the user has frozen
            gc.freeze()
            gc.unfreeze()
    finally:
        if was_enabled:
            gc.enable()


def _set_threads(tf: Any) -> None:
    """Make steps, not operations, run in parallel, unless the user has set threads in code or by environment variable.

    A step's products are small. Two steps side by side with one thread each are about 1.5 times as fast as two steps
    that share their threads.
    """
    threading = tf.config.threading
    chosen_by_user = threading.get_intra_op_parallelism_threads() or threading.get_inter_op_parallelism_threads()
    if chosen_by_user or "TF_NUM_INTRAOP_THREADS" in os.environ or "TF_NUM_INTEROP_THREADS" in os.environ:
        return
    try:
        threading.set_intra_op_parallelism_threads(1)
        threading.set_inter_op_parallelism_threads(max(2, usable_cores()))
    except RuntimeError:  # TensorFlow has started already
        logger.info("TensorFlow is running with its own thread settings; training is faster with one intra-op thread")
