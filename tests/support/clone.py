"""The files of this repository that git keeps, for tests that run in a clone and not in a source archive."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
in_a_clone = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is not a clone, so git lists no files")


def files_of_clone(folder: Path = ROOT) -> list[str]:
    """Return the paths in the repository of all files that git keeps in one of its folders."""
    listed = subprocess.run(["git", "ls-files", "-z", folder], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if name]


def copy_of_clone(folder: Path) -> Path:
    """Return this folder with a copy of the files that git keeps and that are there."""
    for name in files_of_clone():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder
