"""Memory of processes: of one, from the kernel; and of one with its children, read several times a second."""

from __future__ import annotations

import re
import resource
import sys
import threading
import time
from pathlib import Path
from types import TracebackType

_SECONDS_BETWEEN_READINGS = 0.2


def peak_rss_bytes(who: int = resource.RUSAGE_SELF) -> int:
    """Return the peak resident size of this process, or of its largest finished child."""
    return resource.getrusage(who).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def status_number(process: int, name: str) -> int:
    """Return what Linux says of a process: `Threads`, or bytes of resident memory now (VmRSS) or at most (VmHWM)."""
    text = Path(f"/proc/{process}/status").read_text()
    found = re.search(rf"^{name}:\s+(\d+)( kB)?$", text, re.MULTILINE)
    if found is None:
        raise ProcessLookupError(f"process {process} has ended, and has no {name}")
    return int(found[1]) * (1024 if found[2] else 1)


class FamilyMemory:
    """Reads the resident size of a process with its children, from `with` to its end.

    Pages that processes share count once for each. Without psutil nothing is read, and the peak is 0.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._sizes: list[tuple[float, int]] = []  # time.time(), bytes
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> FamilyMemory:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def peak_until(self, moment: float) -> int:
        """Return the largest size read until a time, 0 if none was read."""
        return max((size for read_at, size in self._sizes if read_at <= moment), default=0)

    def _watch(self) -> None:
        try:
            import psutil

            process = psutil.Process(self._pid)
        except Exception:  # psutil is missing, or the process has ended
            return
        while not self._stop.is_set():
            size = 0
            for member in [process, *_children(process)]:
                try:
                    size += member.memory_info().rss
                except psutil.Error:  # it has just ended
                    continue
            self._sizes.append((time.time(), size))
            self._stop.wait(_SECONDS_BETWEEN_READINGS)


def _children(process: object) -> list[object]:
    import psutil

    try:
        return list(process.children(recursive=True))  # type: ignore[attr-defined]
    except psutil.Error:
        return []
