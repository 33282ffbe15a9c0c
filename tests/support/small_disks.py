"""A file system of a megabyte, for tests of disks that are full."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

DISK_BYTES = 2**20


@contextlib.contextmanager
def mounted(place: Path) -> Iterator[Path]:
    """Have a small file system at a new folder; skip the test where it cannot be mounted."""
    place.mkdir()
    mount = shutil.which("mount")
    options = ["-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(place)]
    if mount is None or os.geteuid() != 0 or subprocess.run([mount, *options], capture_output=True).returncode != 0:
        pytest.skip("only root, and not in every container, can mount a small file system")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)
