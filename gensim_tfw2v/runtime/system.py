"""What only some operating systems have. This module alone asks for it, and says what follows where it is missing.

`docs/reference/platforms.md` says what that means for users.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from types import ModuleType

fcntl: ModuleType | None
msvcrt: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None
try:
    import msvcrt
except ImportError:
    msvcrt = None

PROC = Path("/proc")  # Linux; where it is missing, each reader says what follows
_OWN_FILES = PROC / "self/fd"
_NAME_BYTES = 16  # most bytes in the name of a network interface


def call_after_fork(function: Callable[[], object]) -> None:
    """Have every process that is forked from this one call a function; systems without forks need nothing."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


def call_before_fork(function: Callable[[], object]) -> None:
    """Have this process call a function before it is forked; systems without forks need nothing."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=function)


def lock_file(descriptor: int) -> None:
    """Lock an open file until it is closed, or raise OSError at once.

    The error's number is EWOULDBLOCK or EACCES if another process has locked the file, another one if there are no
    locks.
    """
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    elif msvcrt is not None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        raise OSError(errno.ENOLCK, "this system has no locks")


def allocate(descriptor: int, size: int) -> None:
    """Make an empty file of so many zeros; raise OSError if the disk has no room for them, where the system can tell.

    Without the call, as on macOS and Windows, a disk that fills up later ends the process.
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
    else:
        os.truncate(descriptor, size)


def can_ask_for_processes() -> bool:
    """Return whether signal 0 asks if a process runs. On Windows the same call would interrupt processes."""
    return os.name == "posix"


def why_no_cluster() -> str | None:
    """Return why this system cannot take part in a cluster, None if it can.

    Tasks are watched, and their connections cut, by processes that share open sockets and wait for a pipe to end.
    """
    return None if os.name == "posix" else f"clusters run on Linux and macOS, and this system is {os.name!r}"


# -- network interfaces ------------------------------------------------------------------------------------------------


def can_bind_to_interface() -> bool:
    """Return whether the system has a call that binds a socket to a network interface; it may still refuse it."""
    return hasattr(socket, "SO_BINDTODEVICE")


def bind_to_interface(one: socket.socket, interface: str) -> None:
    """Bind a socket to a network interface. Any user can do that since Linux 5.7, but only root a second time."""
    one.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())


def bound_interface(one: socket.socket) -> str:
    """Return the interface that a socket is bound to, "" if to none."""
    return one.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, _NAME_BYTES).rstrip(b"\0").decode()


# -- open files of this process ----------------------------------------------------------------------------------------


def lists_open_files() -> bool:
    """Return whether the system lists the files that a process has open."""
    return _OWN_FILES.exists()


def open_sockets(inodes: Container[int] | None = None) -> Iterator[socket.socket]:
    """Yield a duplicate of each socket that this process has open, or of those with these inodes.

    The caller closes the duplicates. Nothing is yielded where the system lists no open files.
    """
    for name in os.listdir(_OWN_FILES) if lists_open_files() else []:
        with contextlib.suppress(OSError):  # closed meanwhile, or no socket
            if inodes is not None and os.stat(_OWN_FILES / name).st_ino not in inodes:
                continue
            duplicate = os.dup(int(name))
            try:
                found = os.fstat(duplicate)  # the number may have got another file meanwhile
                if not stat.S_ISSOCK(found.st_mode) or (inodes is not None and found.st_ino not in inodes):
                    raise OSError("another file")
                one = socket.socket(fileno=duplicate)
            except OSError:
                os.close(duplicate)
                raise
            yield one
