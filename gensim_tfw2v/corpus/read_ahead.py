"""A corpus → its chunks, which one thread reads ahead of the threads that train them."""

from __future__ import annotations

import logging
import threading
from collections import deque
from contextlib import closing

from gensim_tfw2v.corpus.passes import PlacedChunk, placed_chunks
from gensim_tfw2v.corpus.positions import BEGINNING, PassPosition
from gensim_tfw2v.corpus.sources import Source

logger = logging.getLogger(__name__)

_SECONDS_TO_END = 1.0


class ChunkReader:
    """Reads one epoch of a corpus in a thread of its own.

    This thread opens, reads and closes the corpus, because a corpus may be bound to the thread that opened it, as a
    database connection is. The thread is a daemon, because a corpus that waits for its next sentence cannot be ended.

    Parameters
    ----------
    source : Source
        The corpus.
    ahead : int
        Chunks that may wait to be taken, besides the one that the thread holds.
    begin : PassPosition, optional
        Where to resume; by default at the beginning.
    has_checksums : bool
        Whether to compute the checksum of the chunks.
    epoch : int
        The epoch's number.
    """

    def __init__(
        self,
        source: Source,
        ahead: int,
        begin: PassPosition = BEGINNING,
        has_checksums: bool = False,
        epoch: int = 0,
    ) -> None:
        self._source = source
        self._ahead = ahead
        self._begin, self._has_checksums, self._epoch = begin, has_checksums, epoch
        self._changed = threading.Condition()  # guards all attributes below
        self._waiting: deque[PlacedChunk] = deque()
        self._ended = False
        self._stopped = False
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._read, name="tfw2v-reader", daemon=True)

    def start(self) -> None:
        """Start reading."""
        self._thread.start()

    def take(self) -> PlacedChunk | None:
        """Return the next chunk, None after the last one or once stopped; raise the corpus's error after its chunks."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._ended or self._stopped)
            if self._waiting:
                self._changed.notify_all()
                return self._waiting.popleft()
            failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        return None

    def stop(self) -> None:
        """Stop reading, and drop the chunks that wait."""
        with self._changed:
            self._stopped = True
            self._waiting.clear()
            self._changed.notify_all()
            is_reading = not self._ended
        if is_reading:
            self._source.abandon()

    def join(self) -> None:
        """Wait up to a second until the corpus is closed; after that, leave closing it to the thread."""
        if self._thread.ident is None:  # an interrupt came before the thread started
            return
        self._thread.join(_SECONDS_TO_END)
        if self._thread.is_alive():
            logger.warning("the corpus is still waiting for its next sentence; its thread ends when that arrives")

    def _read(self) -> None:
        failure = None
        try:
            with closing(self._source.epoch(self._epoch)) as chunks:
                reader = self._source.reader
                fingerprint = "" if reader is None else reader.fingerprint
                for chunk in placed_chunks(chunks, self._begin, self._has_checksums, fingerprint):
                    if not self._hand_over(chunk):
                        break
        except BaseException as error:
            failure = error
        with self._changed:
            self._ended = True
            if not self._stopped:
                self._failure = failure
            self._changed.notify_all()

    def _hand_over(self, chunk: PlacedChunk) -> bool:
        """Queue a chunk once there is room; return False if reading was stopped."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < self._ahead or self._stopped)
            if not self._stopped:
                self._waiting.append(chunk)
                self._changed.notify_all()
            return not self._stopped
