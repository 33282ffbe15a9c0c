"""This machine's C compiler, for tests that compile sources as installing does."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

COMPILER = shutil.which("cc")
# Installing does without one: it fetches a compiler.
needs_a_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")


def compile_c(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the C compiler."""
    return subprocess.run([str(COMPILER), *map(str, arguments)], capture_output=True, text=True)


def library_without_functions(folder: Path) -> Path:
    """Return a library in a folder that has none of the package's functions."""
    source, library = folder / "other.c", folder / "other.so"
    source.write_text("int nothing;\n")
    assert compile_c("-shared", "-fPIC", source, "-o", library).returncode == 0
    return library
