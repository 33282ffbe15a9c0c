"""Traces of TensorFlow's profiler, written next to the event files: of this process or of servers.

Each task of a cluster answers the profiler at its usual port. It writes its trace to the same folder on its own
machine.
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
    """Takes one trace of `seconds`, which starts once a first block is trained; none if `seconds` is 0."""

    def __init__(self, folder: Path, seconds: float, hosts: Sequence[str]) -> None:
        self._folder = folder.absolute()  # servers may have another working directory
        self._seconds, self._hosts = seconds, hosts
        self._began: float | None = None
        self._remote: threading.Thread | None = None
        self._finished = seconds <= 0

    def advance(self, trained_words: int) -> None:
        """Start the trace, or end it, if that is due."""
        if self._finished or not trained_words:
            return
        if self._began is None:
            self._start()
        elif self._is_complete(self._began):
            self.close()

    def close(self, wait: bool = True) -> None:
        """End the trace, if one is being taken. Servers end their own; wait for them only if `wait` is True."""
        if self._finished or self._began is None:
            return
        self._finished = True
        if self._remote is None:
            load_tensorflow().profiler.experimental.stop()
        elif wait:
            self._remote.join()

    def _is_complete(self, began: float) -> bool:
        """Return whether the trace has lasted long enough, or all servers have ended theirs."""
        if self._remote is not None:
            return not self._remote.is_alive()
        return time.perf_counter() - began >= self._seconds

    def _start(self) -> None:
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
            self._warn_of_missing_traces()

    def _warn_of_missing_traces(self) -> None:
        names = {path.name for path in self._folder.glob("plugins/profile/*/*.xplane.pb")}
        missing = [host for host in self._hosts if f"{host.replace(':', '_')}.xplane.pb" not in names]
        if missing:
            logger.warning(
                "traces of %s are not in %s here: each is in that folder of its own machine",
                ", ".join(missing),
                self._folder,
            )
