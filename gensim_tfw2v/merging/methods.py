"""Names of the methods of merging, for command lines that import no NumPy."""

from __future__ import annotations

METHODS = ("alir", "pca", "concatenate", "average")
