"""How often a process's Python lock is held, looked at from another process (Linux, CPython 3.10 and newer).

A thread that asked for the lock would change what it measures, and could not tell a long wait from a late wake-up. So
the process says where its lock is in memory, and another process reads that place now and then.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import sys

_LOCK = struct.Struct("@LP")  # how CPython's lock begins: microseconds of an interval, and the thread that held it last
_INT = struct.Struct("@i")  # whether the lock is held follows as such a number
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
        with contextlib.closing(ProcessMemory(os.getpid())) as own:
            memory = own.read(begin, _SEARCHED_BYTES)
    finally:
        sys.setswitchinterval(interval)
    found = memory.find(_LOCK.pack(_MARK, get_thread()))
    return None if found < 0 else begin + found + _LOCK.size


class ProcessMemory:
    """Reads the memory of a process while that runs."""

    def __init__(self, process: int) -> None:
        self._file = os.open(f"/proc/{process}/mem", os.O_RDONLY)

    def read(self, address: int, size: int) -> bytes:
        """Return up to so many bytes."""
        return os.pread(self._file, size, address)

    def number(self, address: int) -> int:
        """Return the int of C at an address, 0 once the process has ended."""
        found = self.read(address, _INT.size)
        return int(_INT.unpack(found)[0]) if len(found) == _INT.size else 0

    def close(self) -> None:
        """Stop reading."""
        os.close(self._file)


class LockWatch:
    """Counts in how many looks at a process its lock was held."""

    def __init__(self, process: int, address: int) -> None:
        self._address = address
        self._memory = ProcessMemory(process)
        self.looks = self.times_held = 0

    def look(self) -> None:
        """Look once."""
        self.looks += 1
        self.times_held += bool(self._memory.number(self._address))

    def close(self) -> None:
        """Stop looking."""
        self._memory.close()
