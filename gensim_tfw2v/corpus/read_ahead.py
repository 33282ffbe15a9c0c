"""A corpus → its chunks, read by one thread a little ahead of the threads that train them."""

from __future__ import annotations

import logging
import threading
from collections import deque
from contextlib import closing

from gensim_tfw2v.corpus.chunks import Chunk
from gensim_tfw2v.corpus.sources import Source

logger = logging.getLogger(__name__)

_SECONDS_TO_END = 1.0


class ChunkReader:
    """Reads one epoch of a corpus in a thread of its own.

    A corpus may be bound to the thread that opened it, as a database connection is: it is opened, read and closed in
    this one. The thread is a daemon, as nothing can end a corpus that does not come to its next sentence.

    Parameters
    ----------
    source : Source
        The corpus.
    ahead : int
        Chunks that may wait to be taken; one more is in the thread's hands.
    """

    def __init__(self, source: Source, ahead: int) -> None:
        self._source = source
        self._ahead = ahead
        self._changed = threading.Condition()  # guards all that follows
        self._waiting: deque[Chunk] = deque()
        self._ended = False
        self._stopped = False
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._read, name="tfw2v-reader", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def take(self) -> Chunk | None:
        """Return the next chunk, None after the last or once stopped; raise what the corpus raised in its place."""
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
        """Read no further, and let nobody take a chunk from now on."""
        with self._changed:
            self._stopped = True
            self._waiting.clear()
            self._changed.notify_all()
            is_reading = not self._ended
        if is_reading:
            self._source.abandon()

    def join(self) -> None:
        """Wait until the corpus is closed; leave it to the thread if it is long in coming to its next sentence."""
        if self._thread.ident is None:  # an interrupt may come before it is started
            return
        self._thread.join(_SECONDS_TO_END)
        if self._thread.is_alive():
            logger.warning("the corpus is still at its next sentence; the thread that reads it ends once that has come")

    def _read(self) -> None:
        failure = None
        try:
            with closing(self._source.epoch()) as chunks:
                for chunk in chunks:
                    if not self._hand_over(chunk):
                        break
        except BaseException as error:
            failure = error
        with self._changed:
            self._ended = True
            if not self._stopped:
                self._failure = failure
            self._changed.notify_all()

    def _hand_over(self, chunk: Chunk) -> bool:
        """Put a chunk where it can be taken, once there is room; return False if nobody wants it any more."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < self._ahead or self._stopped)
            if not self._stopped:
                self._waiting.append(chunk)
                self._changed.notify_all()
            return not self._stopped
