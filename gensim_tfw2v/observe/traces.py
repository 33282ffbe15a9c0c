"""Traces of TensorFlow's profiler, of this process or of servers, next to the run's event files."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from gensim_tfw2v.tensorflow_runtime import load_tensorflow

logger = logging.getLogger(__name__)


class Trace:
    """One trace of `seconds`, begun when a first block has been trained. A length of 0 takes none."""

    def __init__(self, folder: Path, seconds: float, hosts: Sequence[str]) -> None:
        self._folder, self._seconds, self._hosts = folder, seconds, hosts
        self._began: float | None = None
        self._remote: threading.Thread | None = None
        self._finished = seconds <= 0

    def advance(self, trained_words: int) -> None:
        """Begin the trace, or end it, if it is time to."""
        if self._finished or not trained_words:
            return
        if self._began is None:
            self._begin()
        elif time.perf_counter() - self._began >= self._seconds:
            self.close()

    def close(self) -> None:
        """End a trace that is being taken."""
        if self._finished or self._began is None:
            return
        self._finished = True
        if self._remote is not None:
            self._remote.join()
        else:
            load_tensorflow().profiler.experimental.stop()

    def _begin(self) -> None:
        self._began = time.perf_counter()
        if self._hosts:
            self._remote = threading.Thread(target=self._trace_hosts, name="tfw2v-trace")
            self._remote.start()
        else:
            load_tensorflow().profiler.experimental.start(str(self._folder))

    def _trace_hosts(self) -> None:
        tf = load_tensorflow()
        addresses = ",".join(f"grpc://{host}" for host in self._hosts)
        try:
            tf.profiler.experimental.client.trace(
                addresses, str(self._folder), int(1000 * self._seconds), num_tracing_attempts=1
            )
        except (tf.errors.OpError, RuntimeError) as error:
            logger.warning("no trace of %s: %s", addresses, error)
