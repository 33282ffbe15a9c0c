"""Python code run in a process of its own, which finds this package, and what comes of it in time."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path


def run_script(script: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process of its own that finds this package."""
    return subprocess.run(
        [sys.executable, "-c", script], env=environment(), capture_output=True, text=True, timeout=120
    )


def environment() -> dict[str, str]:
    """Return the variables with which any Python process finds this package, and what tests import."""
    paths = os.pathsep.join(path for path in [str(Path(__file__).parents[2]), *sys.path] if path)
    return os.environ | {"PYTHONPATH": paths}


def wait_until(is_true: Callable[[], bool], seconds: float = 60.0) -> None:
    """Return when a condition holds; fail if it does not in time."""
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.1)
