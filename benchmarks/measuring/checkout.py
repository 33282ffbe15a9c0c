"""Finds this checkout and its commit, and imports the package from it or from another commit."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"
RESULTS = BENCHMARKS / "results"
HERE = "here"  # stands for the files of this checkout, in place of a commit
_PACKAGE = "gensim_tfw2v"
_BUILD_FILES = ("setup.py", "pyproject.toml", "README.md", "LICENSE")


def use_checkout() -> None:
    """Make `import gensim_tfw2v` find the package of this checkout."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))


@contextlib.contextmanager
def package_of(revision: str) -> Iterator[None]:
    """Make `import gensim_tfw2v` find the package of a commit of this repository."""
    if revision == HERE:
        use_checkout()
        yield
        return
    archive = _git("archive", "--format=zip", revision, _PACKAGE, *_BUILD_FILES)
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(io.BytesIO(archive)) as files:
            files.extractall(folder)
        _compile_operations(Path(folder))
        sys.path[:0] = [folder, str(ROOT)]  # `use_checkout` finds the second, and adds nothing before the first
        # Tasks of a cluster would find the package of the current directory first (from Python 3.11 on).
        os.environ["PYTHONSAFEPATH"] = "1"
        yield


def find_in_package(name: str, modules: Sequence[str]) -> Any:
    """Return what the first of these modules of the package that exists calls `name`. Older commits have others."""
    for module in modules:
        path = f"{_PACKAGE}.{module}"
        try:
            return getattr(importlib.import_module(path), name)
        except ModuleNotFoundError as error:
            if not path.startswith(error.name or path):  # the module exists, and something that it imports does not
                raise
    raise ModuleNotFoundError(f"the package has none of the modules {', '.join(modules)}")


def import_tensorflow() -> None:
    """Import TensorFlow with its threads set, as the package of any commit does before it trains."""
    find_in_package("load_tensorflow", ("runtime.tensorflow", "tensorflow_runtime"))()


def _compile_operations(folder: Path) -> None:
    """Compile the operations of a commit's package, if it has any."""
    if not any((folder / _PACKAGE).rglob("*.c")):
        return
    command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the package of that commit cannot be compiled:\n{done.stderr}")


def revision_from(text: str) -> str:
    """Return the short hash of the commit that an argument names; "here" stays."""
    if text == HERE:
        return text
    try:
        return _git("rev-parse", "--verify", "--quiet", "--short=12", f"{text}^{{commit}}").decode().strip()
    except (OSError, subprocess.CalledProcessError):
        raise argparse.ArgumentTypeError(f"{text!r} is no commit of the repository in {ROOT}") from None


def commit() -> str:
    """Return the commit of this checkout, with "-dirty" if files differ from it, or "unknown"."""
    try:
        return _git("describe", "--always", "--dirty", "--abbrev=12", "--exclude=*").decode().strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(*arguments: str) -> bytes:
    """Return the output of a git command in the repository of this checkout."""
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, check=True).stdout


def as_typed(path: str) -> str:
    """Return a path relative to the checkout if it lies inside, else unchanged."""
    absolute = Path(os.path.abspath(path))
    return str(absolute.relative_to(ROOT)) if absolute.is_relative_to(ROOT) else path
