"""Traces of TensorFlow's profiler, of this process or of servers, next to the run's event files.

A task of a cluster answers the profiler's client at its own port. It writes its trace by itself: to the same folder, on
its own machine.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from gensim_tfw2v.runtime.tensorflow import load_tensorflow

logger = logging.getLogger(__name__)


class Trace:
    """One trace of `seconds`, begun when a first block has been trained. A length of 0 takes none."""

    def __init__(self, folder: Path, seconds: float, hosts: Sequence[str]) -> None:
        self._folder = folder.absolute()  # servers may have another working directory
        self._seconds, self._hosts = seconds, hosts
        self._began: float | None = None
        self._remote: threading.Thread | None = None
        self._finished = seconds <= 0

    def advance(self, trained_words: int) -> None:
        """Begin the trace, or end it, if it is time to."""
        if self._finished or not trained_words:
            return
        if self._began is None:
            self._begin()
        elif self._is_over(self._began):
            self.close()

    def close(self, wait: bool = True) -> None:
        """End a trace that is being taken. Servers end theirs in time; unless `wait`, they are left alone with it."""
        if self._finished or self._began is None:
            return
        self._finished = True
        if self._remote is None:
            load_tensorflow().profiler.experimental.stop()
        elif wait:
            self._remote.join()

    def _is_over(self, began: float) -> bool:
        """Return whether the trace is to be ended; servers, which end theirs, need not be waited for any more then."""
        if self._remote is not None:
            return not self._remote.is_alive()
        return time.perf_counter() - began >= self._seconds

    def _begin(self) -> None:
        self._began = time.perf_counter()
        if self._hosts:
            self._remote = threading.Thread(target=self._trace_hosts, name="tfw2v-trace", daemon=True)
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
        else:
            self._warn_of_missing()

    def _warn_of_missing(self) -> None:
        names = {path.name for path in self._folder.glob("plugins/profile/*/*.xplane.pb")}
        missing = [host for host in self._hosts if f"{host.replace(':', '_')}.xplane.pb" not in names]
        if missing:
            logger.warning(
                "traces of %s are not in %s here: each is in that folder of its own machine",
                ", ".join(missing),
                self._folder,
            )
