"""The owner of a folder of checkpoints: each training that takes the folder raises its number by one."""

from __future__ import annotations

import contextlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from gensim_tfw2v.checkpoints.unfinished import own_writer

_MOST_BYTES = 200  # of a line that names an owner


@dataclass(frozen=True)
class Owner:
    """A training that has taken a folder.

    Attributes
    ----------
    number : int
        One more than that of the owner before.
    token : str
        Random: two trainings may take the same number on a storage without locks.
    writer : str
        What the names of its process's unfinished folders begin with.
    """

    number: int
    token: str
    writer: str

    def line(self) -> bytes:
        """Return the line that names the owner in the lock's file."""
        return f"{self.number} {self.token} {self.writer}\n".encode()


def owner_in(line: bytes) -> Owner | None:
    """Return the owner that a lock's file names, None if it names none."""
    try:
        number, token, writer = line.partition(b"\n")[0].decode().split(" ")
        return Owner(int(number), token, writer)
    except ValueError:
        return None


def read_owner(path: Path) -> Owner | None:
    """Return the owner that the lock's file names; raise OSError if the system lets nobody read it."""
    with path.open("rb") as file:
        return owner_in(file.read(_MOST_BYTES))


def become_owner(lock: int) -> tuple[Owner, Owner | None]:
    """Write a new owner to the lock's file, which is open, and return it with the former one."""
    os.lseek(lock, 0, os.SEEK_SET)
    former = owner_in(os.read(lock, _MOST_BYTES))
    owner = Owner(1 if former is None else former.number + 1, secrets.token_hex(16), own_writer())
    os.lseek(lock, 0, os.SEEK_SET)
    os.write(lock, owner.line())
    os.ftruncate(lock, len(owner.line()))
    with contextlib.suppress(OSError):  # some storages have no such call
        os.fsync(lock)  # so that another machine reads it although this one keeps the file open
    return owner, former
