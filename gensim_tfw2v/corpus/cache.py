"""Sentences of ids → a store that keeps them within a memory and a disk budget."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, NamedTuple

import numpy as np

from gensim_tfw2v.corpus.sentences import Sentences

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class CacheBudget:
    """What the encoded corpus may use: bytes of memory, then bytes of disk, and a directory on the disk.

    ``directory=None`` means the system's directory for temporary files. If both numbers are 0, nothing is kept and
    every epoch reads its corpus again.
    """

    memory_bytes: int
    disk_bytes: int
    directory: str | None = None


class _OnDisk(NamedTuple):
    """Sentences in the file: where they begin, and how much there is of them."""

    offset: int
    words: int
    sentences: int
    has_weights: bool
    has_documents: bool


class EncodedStore:
    """Keeps sentences in the order they are added: in memory first, then in an unnamed file.

    The file has no name, so that it disappears when the process ends, for whatever reason. The file is read instead of
    mapped, so that its pages do not count as memory of this process. A process forked from this one shares the file and
    its position: both may read, and only this one writes.
    """

    def __init__(self, budget: CacheBudget) -> None:
        self._budget = budget
        self._entries: list[Sentences | _OnDisk] = []
        self._file: IO[bytes] | None = None
        self._writer = os.getpid()
        self._memory_left = budget.memory_bytes
        self._disk_used = 0
        self.complete = budget.memory_bytes > 0 or budget.disk_bytes > 0
        """False once something did not fit, or after `close`: the store then stays empty."""

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Sentences]:
        """Yield the sentences as they were added."""
        for entry in self._entries:
            yield entry if isinstance(entry, Sentences) else self._read(entry)

    def append(self, sentences: Sentences) -> None:
        """Keep more sentences, or drop everything if they fit neither budget."""
        if not self.complete:
            return
        if sentences.nbytes <= self._memory_left:
            self._memory_left -= sentences.nbytes
            self._entries.append(sentences)
        elif self._disk_used + sentences.nbytes <= self._budget.disk_bytes and self._writer == os.getpid():
            self._write(sentences)
        else:
            self.close()

    def close(self) -> None:
        """Free the memory and the disk space."""
        self.complete = False
        self._entries = []
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, sentences: Sentences) -> None:
        if self._file is None:
            self._file = _unnamed_file(self._budget.directory)
        try:
            self._file.seek(self._disk_used)
            for array in sentences.arrays:
                self._file.write(array.tobytes())
            self._file.flush()
        except OSError as error:
            # The cache only saves time, so a full disk must not end the training.
            logger.warning("cannot keep the encoded corpus on disk (%s); it is read again every epoch", error)
            self._abandon_file()
            return
        has = sentences.weights is not None, sentences.documents is not None
        self._entries.append(_OnDisk(self._disk_used, sentences.ids.size, sentences.lengths.size, *has))
        self._disk_used += sentences.nbytes

    def _abandon_file(self) -> None:
        file, self._file = self._file, None
        self.close()
        try:
            if file is not None:
                file.close()
        except OSError:
            # Closing tries once more to write what could not be written; the file is removed anyway.
            logger.debug("the file of the encoded corpus could not be flushed", exc_info=True)

    def _read(self, entry: _OnDisk) -> Sentences:
        if self._file is None:
            raise RuntimeError("the encoded corpus was closed while it was being read")
        words, lengths = entry.words, entry.sentences
        numbers = np.empty(words + lengths * (1 + entry.has_weights + entry.has_documents), np.int32)
        _read_at(self._file.fileno(), entry.offset, numbers.view(np.uint8).data)
        weights = numbers[words + lengths :][:lengths].view(np.float32) if entry.has_weights else None
        documents = numbers[-lengths:] if entry.has_documents else None
        return Sentences(numbers[:words], numbers[words : words + lengths], weights, documents)


def _read_at(file: int, offset: int, left: memoryview) -> None:
    """Fill `left` from an offset in a file, without moving the position that forked processes share."""
    while left:
        size = os.preadv(file, [left], offset)
        if not size:
            raise OSError(
                f"the file of the encoded corpus ends at byte {offset}, {len(left)} bytes too early; "
                "choose another cache_dir, or set cache_disk=0"
            )
        offset, left = offset + size, left[size:]


def _unnamed_file(directory: str | None) -> IO[bytes]:
    try:
        return tempfile.TemporaryFile(prefix="gensim_tfw2v-", dir=directory)
    except OSError as error:
        raise OSError(
            f"cannot make a file for the encoded corpus in {directory or tempfile.gettempdir()!r}: {error}; "
            "choose another cache_dir, or set cache_disk=0"
        ) from error
