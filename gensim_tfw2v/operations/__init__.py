"""Operations for TensorFlow's graphs that the package brings with it: C sources, compiled when it is installed.

TensorFlow has no operation that sums the gradients of a batch by row and moves those rows, nor one that mixes rows in
windows or goes down a tree; made of those that it has, each costs several passes over memory.
"""

from __future__ import annotations

import functools
import sysconfig
from pathlib import Path
from typing import Any

from gensim_tfw2v.runtime.processor import instruction_level
from gensim_tfw2v.runtime.tensorflow import load_tensorflow


@functools.cache
def operations() -> Any:
    """Return the module with a function for each operation, compiled for instructions that this processor has."""
    path = library_path()
    if not path.is_file():
        raise ImportError(
            f"the package's operations for TensorFlow are not compiled: there is no {path}. "
            "`pip install .` in the package's checkout compiles them, as does `python setup.py build_ext --inplace`"
        )
    tensorflow = load_tensorflow()
    found = tensorflow.load_op_library(str(path))
    if not hasattr(found, "tfw2v_gather_rows"):
        raise ImportError(f"TensorFlow {tensorflow.__version__} lacks what {path} is made with; 2.16 to 2.21 have it")
    return found


def library_path() -> Path:
    """Return where the library for this processor is, if it has been compiled."""
    return Path(__file__).parent / f"{instruction_level()}{sysconfig.get_config_var('EXT_SUFFIX')}"
