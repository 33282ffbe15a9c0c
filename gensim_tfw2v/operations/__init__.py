"""The package's own operations for TensorFlow's graphs: C sources, compiled when the package is installed.

One operation a model trains a span of a block. Built from TensorFlow's own operations, each run of tokens would take
dozens of them, and several passes over memory.
"""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path
from typing import Any

from gensim_tfw2v.runtime.compiled import HOW_TO_COMPILE, library_in
from gensim_tfw2v.runtime.processor import instruction_level
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

NAMES = (
    "tfw2v_read_rows",
    "tfw2v_write_rows",
    "tfw2v_add_rows",
    "tfw2v_train_skip_gram",
    "tfw2v_train_cbow",
)


@functools.cache
def operations() -> Any:
    """Return the module with a function for each operation, after a test that rows of a variable can be moved.

    The test runs operations at once, so TensorFlow sets up this process's devices with its present settings. A process
    that starts a server with settings of its own must start it first, after calling only `load_operations`.
    """
    found = load_operations()
    _check_rows_move(found)
    return found


@functools.cache
def load_operations() -> Any:
    """Return the same module without that test; from now on this process can execute graphs that use the operations."""
    path = library_path()
    if not path.is_file():
        raise ImportError(
            f"the package's operations for TensorFlow are not compiled: there is no {path}. {HOW_TO_COMPILE}"
        )
    tf = load_tensorflow()
    try:
        found = tf.load_op_library(str(path))
    except tf.errors.NotFoundError as error:  # a library of another platform
        raise ImportError(f"the package's operations cannot be loaded: {error.message}. {HOW_TO_COMPILE}") from None
    _check_registration(found, path)
    return found


def library_path() -> Path:
    """Return the path of the library for this processor, whether or not it has been compiled."""
    return library_in(Path(__file__).parent, instruction_level())


def _check_registration(found: Any, path: Path) -> None:
    """Raise ImportError if TensorFlow has not registered one of the operations."""
    version = load_tensorflow().__version__
    library = ctypes.CDLL(str(path))
    if not hasattr(library, "tfw2v_registration_error"):
        raise ImportError(f"{path} was compiled from another version of the package. {HOW_TO_COMPILE}")
    library.tfw2v_registration_error.restype = ctypes.c_char_p
    error = library.tfw2v_registration_error()
    missing = error.decode() if error else next((name for name in NAMES if not hasattr(found, name)), None)
    if missing:
        raise ImportError(
            f"TensorFlow {version} does not take the package's operations in {path}: {missing}. "
            "Versions 2.16 to 2.21 take them"
        )


def _check_rows_move(found: Any) -> None:
    """Raise ImportError if operations write to a copy of a variable, so that training would change nothing.

    They write to the memory that ReadVariableOp returns. TensorFlow does not guarantee that this is the variable's own.
    """
    tf = load_tensorflow()
    # A graph may be in the middle of being traced, for a device of another process.
    with tf.init_scope(), tf.device(None), tf.device("/CPU:0"):
        if not tf.executing_eagerly():  # nothing can be run eagerly, and train() refuses such a process
            return
        table = tf.Variable(tf.raw_ops.DeepCopy(x=[[1.0], [2.0]]), trainable=False)
        memory = functools.partial(tf.raw_ops.ReadVariableOp, resource=table.handle, dtype=tf.float32)
        found.tfw2v_add_rows(table=memory(), rows=[1], changes=[[4.0]])
        rows = found.tfw2v_read_rows(table=memory(), rows=[0, 1]).numpy()
    if rows.tolist() != [[1.0], [6.0]]:
        raise ImportError(
            f"TensorFlow {tf.__version__} gives operations a copy of a variable instead of its memory, so that "
            "training would change nothing. Versions 2.16 to 2.21 do not"
        )
