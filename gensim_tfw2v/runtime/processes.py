"""Which machine this is, which of its processes run, and which program runs Python.

Names show which process left something behind.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import subprocess
import sys
from pathlib import Path

from gensim_tfw2v.runtime.system import PROC, can_ask_for_processes

BOOT_ID = PROC / "sys/kernel/random/boot_id"
PROCESS_NAMESPACE = PROC / "self/ns/pid"
_PROGRAM_SECONDS = 20.0  # that a program may take to say which Python it runs
_STATE, _START_TIME = 0, 19  # places in /proc/PID/stat, counted after the command's name
_ENDED = (b"Z", b"X")  # states of processes that nobody has waited for yet


def machine_name() -> str:
    """Return a short name of the machine or container within which process numbers are unique.

    Containers may share a host name, and each of them numbers its processes from 1.
    """
    known = [platform.node()]
    for read in (BOOT_ID.read_text, PROCESS_NAMESPACE.readlink):
        try:
            known.append(str(read()))
        except OSError:  # a system without these files: the host name must be enough
            known.append("")
    return hashlib.sha256("\n".join(known).encode()).hexdigest()[:16]


def start_time(process: int) -> int | None:
    """Return when a process of this machine started, in ticks since the machine did; None if there is no such process.

    Another process that gets the number later has another time. If the system does not say the time, it is 0.
    """
    try:
        stat = Path(PROC, str(process), "stat").read_bytes()
    except OSError:
        return 0 if is_running(process) else None
    fields = stat.rpartition(b")")[2].split()  # the command's name, in parentheses, may hold anything
    return None if fields[_STATE] in _ENDED else int(fields[_START_TIME])


def is_running(process: int) -> bool:
    """Return whether this machine has a process of that number; True where the system does not say so."""
    if not can_ask_for_processes():
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


@functools.cache
def runs_python(program: str) -> bool:
    """Return whether a program runs this process's Python.

    Where another program has Python built in, `sys.executable` is empty or names that program.
    """
    name = Path(program).name.lower()
    if not name or "python" in name:
        return bool(name)
    command = [program, "-c", "import sys; print(sys.version)"]
    try:
        found = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROGRAM_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return found.stdout.decode("utf-8", "replace").strip() == sys.version.strip()
