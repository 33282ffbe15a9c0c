"""TensorFlow, imported when first needed, without its start-up banners and with threads set for this work."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from gensim_tfw2v.runtime.forks import refuse_forked_process
from gensim_tfw2v.runtime.processor import instruction_level

logger = logging.getLogger(__name__)

_ALLOCATOR, _ONEDNN = "TF_ONEDNN_USE_SYSTEM_ALLOCATOR", "TF_ENABLE_ONEDNN_OPTS"
_CHOSEN_HERE: set[str] = set()  # environment variables


def usable_cores() -> int:
    """Return the number of cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def load_tensorflow() -> Any:
    """Return the tensorflow module; the first call imports it and sets its thread pools."""
    refuse_forked_process()
    if "tensorflow" in sys.modules:
        import tensorflow as tf
    else:
        _choose_allocator()
        _choose_products()
        with _quiet_start():
            with _keras_left_for_later(), _garbage_left_for_later():
                import tensorflow as tf

            _set_threads(tf)
            tf.constant(0)  # looks for devices now, while complaints about missing GPUs are held back
    return tf


def check_runs_at_once() -> None:
    """Raise RuntimeError if TensorFlow would put operations into a graph instead of running them."""
    if not load_tensorflow().executing_eagerly():
        # What came of it would stay in caches here, and fail later trainings, too.
        raise RuntimeError(
            "train() needs TensorFlow's eager execution, which is off here: call it outside of tf.function and of "
            "`with tf.Graph().as_default()`, and without tf.compat.v1.disable_eager_execution()"
        )


def _choose_allocator() -> None:
    """Make TensorFlow take memory from the C library, unless the user has said otherwise.

    oneDNN's allocator has one pool for all threads: what one step frees, a step on another core gets next, and has to
    fetch from that core's cache to write over it. Where the cores have no cache in common, two steps side by side then
    take twice their time (``benchmarks/allocators.py``). The C library keeps apart what different threads freed.
    """
    _choose(_ALLOCATOR, "1")


def _choose_products() -> None:
    """Make TensorFlow multiply matrices by oneDNN, unless the user has said otherwise.

    By itself it does so only where the processor has instructions made for neural networks. But with AVX2 alone, too,
    oneDNN multiplies small matrices several times as fast as Eigen (``benchmarks/profile_step.py``).
    """
    if instruction_level() != "baseline":
        _choose(_ONEDNN, "1")


def _choose(variable: str, value: str) -> None:
    """Set an environment variable of this process alone, if it is not set."""
    if variable not in os.environ:
        os.environ[variable] = value
        _CHOSEN_HERE.add(variable)


def environment_for_tasks() -> dict[str, str]:
    """Return this process's environment without what was chosen for its own TensorFlow alone."""
    return {name: value for name, value in os.environ.items() if name not in _CHOSEN_HERE}


@contextlib.contextmanager
def _keras_left_for_later() -> Iterator[None]:
    """Keep ``import tensorflow`` from importing all of Keras, which is nothing to this package.

    TensorFlow imports Keras' optimizers last of all, and does without them where there is no Keras; with them come
    whichever of scikit-learn, matplotlib and pandas are installed. ``tf.keras`` imports Keras when it is first used.
    """
    name = "keras.src.optimizers"
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]  # importing it now fails as if it were not there
    try:
        yield
    finally:
        del sys.modules[name]


@contextlib.contextmanager
def _garbage_left_for_later() -> Iterator[None]:
    """Keep Python from looking for garbage while it makes the objects of thousands of modules, none of them garbage.

    Looking through them again and again takes a good part of the import. Afterwards they count as old: were they new,
    the first look at new objects would go through all of them, which takes a sixth of training a small model.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
        if not gc.get_freeze_count():  # what somebody has frozen stays so
            gc.freeze()
            gc.unfreeze()
    finally:
        if was_enabled:
            gc.enable()


def _set_threads(tf: Any) -> None:
    """Make parallel steps, not parallel operations, use the cores.

    The step's products are small: two steps side by side with one thread each run about half as fast again as two
    steps that share their threads. Settings that the user has made, in code or by environment variable, are left alone.
    """
    threading = tf.config.threading
    chosen_by_user = threading.get_intra_op_parallelism_threads() or threading.get_inter_op_parallelism_threads()
    if chosen_by_user or "TF_NUM_INTRAOP_THREADS" in os.environ or "TF_NUM_INTEROP_THREADS" in os.environ:
        return
    try:
        threading.set_intra_op_parallelism_threads(1)
        threading.set_inter_op_parallelism_threads(max(2, usable_cores()))
    except RuntimeError:  # its context exists already
        logger.info("TensorFlow is running with its own thread settings; training is faster with one intra-op thread")


@contextlib.contextmanager
def _quiet_start() -> Iterator[None]:
    """Keep what native code prints while TensorFlow starts; show it only if that fails."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    if sys.stderr is not None:
        with contextlib.suppress(ValueError):  # it is closed
            sys.stderr.flush()
    try:
        saved = os.dup(2)
    except OSError:  # no standard error to silence
        yield
        return
    with tempfile.TemporaryFile() as held_back:
        os.dup2(held_back.fileno(), 2)
        try:
            yield
        except BaseException:
            os.dup2(saved, 2)
            held_back.seek(0)
            os.write(2, held_back.read())
            raise
        finally:
            os.dup2(saved, 2)
            os.close(saved)
