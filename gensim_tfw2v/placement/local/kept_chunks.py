"""Chunks of an encoded corpus that stay on a device, so that later epochs neither read nor send them again."""

from __future__ import annotations

import threading
from typing import Any

from gensim_tfw2v import tuning
from gensim_tfw2v.corpus.shards import Span


class KeptChunks:
    """Tensors of chunks by their spans, the first ones that fit.

    Other chunks of text are not kept: nothing but reading their words would show that a later epoch has the same ones.

    Parameters
    ----------
    most_bytes : int
        Bytes of all chunks together.
    """

    def __init__(self, most_bytes: int = tuning.MOST_KEPT_CHUNK_BYTES) -> None:
        self._bytes_left = most_bytes
        self._chunks: dict[Span, Any] = {}
        self._lock = threading.Lock()  # guards both

    def get(self, content: Any) -> Any:
        """Return the tensors of a chunk with this content, None if they are not kept."""
        with self._lock:
            return self._chunks.get(content) if isinstance(content, Span) else None

    def keep(self, span: Span, tensors: Any, size: int) -> None:
        """Keep a chunk's tensors, which take so many bytes, if there is room for them."""
        with self._lock:
            if size <= self._bytes_left and span not in self._chunks:
                self._bytes_left -= size
                self._chunks[span] = tensors

    def clear(self) -> None:
        """Free the memory, and keep nothing further."""
        with self._lock:
            self._chunks.clear()
            self._bytes_left = 0
