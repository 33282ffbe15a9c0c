"""Where the package's compiled libraries are."""

from __future__ import annotations

import os
from pathlib import Path

HOW_TO_COMPILE = (
    "`pip install .` in the package's checkout compiles them, as does `python setup.py build_ext --inplace`"
)
_FOLDER_VARIABLE = "TFW2V_LIBRARIES"  # a folder with other builds of the libraries, as `scripts/sanitize` makes them


def library_in(folder: Path, name: str) -> Path:
    """Return the path of a library whose sources are in `folder`, whether or not it has been compiled.

    Libraries use no interface of Python's, so that the same file serves every Python.
    """
    return Path(os.environ.get(_FOLDER_VARIABLE) or folder) / f"{name}.so"
