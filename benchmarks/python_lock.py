"""How often a process's Python lock is held, looked at from another process (Linux, CPython 3.10 and newer).

A thread that asked for the lock would change what it measures, and could not tell a long wait from a late wake-up. So
the process says where its lock is in memory, and another process reads that place now and then.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

_LOCK = struct.Struct("@LP")  # how CPython's lock begins: microseconds of an interval, and the thread that held it last
_HELD = struct.Struct("@i")  # follows
_SEARCHED_BYTES = 1 << 22
_MARK = 4567  # microseconds: an interval that nobody else sets


def lock_address() -> int | None:
    """Return where this process keeps whether its lock is held, None if that is not found."""
    get_thread = ctypes.pythonapi.PyThreadState_Get
    get_thread.restype = ctypes.c_void_p
    begin = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime"))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(_MARK / 1e6)
    try:
        memory = _read(os.getpid(), begin, _SEARCHED_BYTES)
    finally:
        sys.setswitchinterval(interval)
    found = memory.find(_LOCK.pack(_MARK, get_thread()))
    return None if found < 0 else begin + found + _LOCK.size


def _read(process: int, address: int, size: int) -> bytes:
    """Return up to so many bytes of a process's memory."""
    memory = os.open(f"/proc/{process}/mem", os.O_RDONLY)
    try:
        return os.pread(memory, size, address)
    finally:
        os.close(memory)


class LockWatch:
    """Counts in how many looks at a process its lock was held."""

    def __init__(self, process: int, address: int) -> None:
        self._address = address
        self._memory = os.open(f"/proc/{process}/mem", os.O_RDONLY)
        self.looks = self.times_held = 0

    def look(self) -> None:
        """Look once."""
        (held,) = _HELD.unpack(os.pread(self._memory, _HELD.size, self._address))
        self.looks += 1
        self.times_held += bool(held)

    def close(self) -> None:
        """Stop looking."""
        os.close(self._memory)
