"""Where this checkout is, which commit it has, and how to import the package from it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"


def use_checkout() -> None:
    """Make `import gensim_tfw2v` find this checkout's package, installed or not."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))


def commit() -> str:
    """Return the checkout's commit, with "-dirty" after it if files differ from it, or "unknown"."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def as_typed(path: str) -> str:
    """Return a path inside the checkout relative to it; others as they are."""
    absolute = Path(os.path.abspath(path))
    return str(absolute.relative_to(ROOT)) if absolute.is_relative_to(ROOT) else path
