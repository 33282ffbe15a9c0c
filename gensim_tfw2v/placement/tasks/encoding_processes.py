"""A worker's processes that encode sections of a corpus, one for each of its cores.

Processes of their own do not hold the lock of the worker's Python. They end with the worker, whose pipes they read.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from gensim_tfw2v.cluster.errors import TaskError
from gensim_tfw2v.corpus.sections.encoders import LostEncoderError, ProcessEncoder

ENCODE = "gensim_tfw2v.encode"
MOST_REQUESTS = 1024  # in a call


class EncodingProcesses:
    """Processes that are started when they are first needed, and end when a coordinator has done with them."""

    def __init__(self) -> None:
        self._encoders: list[ProcessEncoder] = []
        self._one_call = threading.Lock()  # a call may outlast its coordinator

    def answer(self, lines: Any) -> bytes:
        """Return the lines that answer requests, which are handled side by side; without requests, end the processes.

        Raise TaskError if a process is lost.
        """
        requests = _bytes_of(lines).splitlines(keepends=True)
        if len(requests) > MOST_REQUESTS:
            raise TaskError(f"{len(requests)} requests came to be answered at once")
        with self._one_call:
            if not requests:
                self._end()
                return b""
            while len(self._encoders) < len(requests):
                self._encoders.append(ProcessEncoder())
            with ThreadPoolExecutor(len(requests)) as threads:
                try:
                    return b"".join(threads.map(ProcessEncoder.answer_line, self._encoders, requests))
                except LostEncoderError as error:
                    raise TaskError(" ".join(str(error).split())) from None

    def _end(self) -> None:
        for encoder in self._encoders:
            encoder.close()
        self._encoders = []


def _bytes_of(value: Any) -> bytes:
    """Return what TensorFlow passes as bytes, or as an array of them."""
    found = value.item() if hasattr(value, "item") else value
    if not isinstance(found, bytes):
        raise TaskError(f"requests for encoding came as {type(found).__name__}")
    return found
