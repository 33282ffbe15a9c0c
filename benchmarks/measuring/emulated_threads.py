"""Emulates threads in one thread: the package's compiled operations train each run from older rows."""

from __future__ import annotations

import ctypes
from pathlib import Path

_FUNCTION = "tfw2v_emulate_threads"


class NoEmulationError(Exception):
    """The compiled operations cannot emulate threads."""


def emulate_threads(threads: int) -> None:
    """Have one thread train as so many do: each run from the rows as they were `threads` - 1 runs before.

    This holds for all that this process trains from now on. With 1, a run is trained from the rows as they are.
    """
    from gensim_tfw2v.operations import library_path, load_operations

    load_operations()  # so that TensorFlow and ctypes have the same copy of the library
    emulate_threads_in(library_path(), threads)


def emulate_threads_in(library: Path, threads: int) -> None:
    """Do so in that library; raise NoEmulationError if it lacks the function."""
    function = getattr(ctypes.CDLL(str(library)), _FUNCTION, None)
    if function is None:
        raise NoEmulationError(
            f"{library} has no function {_FUNCTION}, which emulates threads: compile the operations of a version that "
            "has it by `python setup.py build_ext --inplace`"
        )
    function.argtypes, function.restype = [ctypes.c_int], None
    function(threads)
