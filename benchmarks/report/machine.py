"""Describes what a measurement ran on: the machine, its load, and versions."""

from __future__ import annotations

import datetime
import hashlib
import importlib.metadata
import os
import platform
import shlex
import sys
from pathlib import Path
from typing import Any

from measuring.checkout import as_typed, commit, use_checkout
from measuring.jobs import usable_cores

BUSY_LOAD = 0.5
_PACKAGES = ("tensorflow", "gensim", "numpy", "scipy")


def describe(corpus: str | None = None) -> dict[str, Any]:
    """Return machine, versions, command and corpus, for the head of a results file."""
    return {
        "command": command_line(),
        "started": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": machine(),
        "versions": versions(),
        "corpus": None if corpus is None else describe_corpus(corpus),
        "warnings": warnings_about_load(os.getloadavg()[0]),
    }


def command_line() -> str:
    """Return the command of this process, with the script's path relative to the checkout."""
    return shlex.join(["python", as_typed(sys.argv[0]), *sys.argv[1:]])


def machine() -> dict[str, Any]:
    """Return processor, cores, memory, system and load averages."""
    use_checkout()
    from gensim_tfw2v.runtime.processor import processor_name

    pages, page_size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {
        "cpu": processor_name(),
        "cores": usable_cores(),
        "ram_bytes": pages * page_size,
        "system": f"{platform.system()} {platform.release()}",
        "load_before": list(os.getloadavg()),
    }


def versions() -> dict[str, str]:
    """Return the versions of Python, the packages and this checkout."""
    use_checkout()
    import gensim_tfw2v

    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found | {"gensim-tfw2v": gensim_tfw2v.__version__, "commit": commit()}


def describe_corpus(corpus: str) -> dict[str, Any]:
    """Return the name, size and checksum of a corpus."""
    digest = hashlib.sha256()
    with open(corpus, "rb") as file:
        while block := file.read(2**20):
            digest.update(block)
    return {"name": Path(corpus).name, "bytes": os.path.getsize(corpus), "sha256": digest.hexdigest()}


def warnings_about_load(load: float) -> list[str]:
    """Return a warning if the load average before the first run was too high, else nothing."""
    if load <= BUSY_LOAD:
        return []
    return [
        f"THE MACHINE WAS BUSY: its load average over the last minute was {load:.2f} (above {BUSY_LOAD}) before the "
        "first run. The speeds below are not to be trusted."
    ]
