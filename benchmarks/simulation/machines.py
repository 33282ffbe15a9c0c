"""What a machine has: cores that do jobs in turn, and a link that carries messages in turn.

Jobs and messages are served in the order in which they arrive. So the end of each is known when it arrives, and takes
one event, however many wait before it.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import simpy

_PERIOD = 0.1  # seconds in which a machine with a quota may use so much of a core: the kernel's own default


class Processor:
    """Cores that do jobs in the order of their arrival.

    Parameters
    ----------
    cores : float
        Whole cores; or less than one, a quota: in every tenth of a second one core works for this share of it.
    speed : float
        Work that a core does in a second.
    phase : float
        Seconds by which the periods of a quota begin later.
    """

    def __init__(self, env: simpy.Environment, cores: float, speed: float = 1.0, phase: float = 0.0) -> None:
        self._env = env
        self._speed = speed
        self._free_at = [0.0] * max(1, int(cores))
        self._budget = _PERIOD * cores if cores < 1 else None
        self._phase = phase
        self._period, self._used = -1, 0.0  # the last period in which a core has worked, and for how long
        self.busy_seconds = 0.0
        """Seconds in which cores have worked."""

    def end_of(self, work: float) -> float:
        """Return when a job that arrives now will be done. `work` is in seconds of a core of speed 1."""
        seconds = work / self._speed
        start = max(self._env.now, heapq.heappop(self._free_at))
        end = start + seconds if self._budget is None else self._end_within_budget(start, seconds, self._budget)
        heapq.heappush(self._free_at, end)
        self.busy_seconds += seconds
        return end

    def work(self, work: float) -> simpy.Event:
        """Return the event that a job that arrives now is done."""
        return self._env.timeout(self.end_of(work) - self._env.now)

    def _end_within_budget(self, start: float, seconds: float, budget: float) -> float:
        period = math.floor((start - self._phase) / _PERIOD)
        used = self._used if period == self._period else 0.0
        left_of_period = self._phase + (period + 1) * _PERIOD - start
        first = min(max(budget - used, 0.0), left_of_period)
        if seconds <= first:
            self._period, self._used = period, used + seconds
            return start + seconds
        whole, rest = divmod(seconds - first, budget)
        if not rest:
            whole, rest = whole - 1, budget
        self._period, self._used = period + 1 + int(whole), rest
        return self._phase + self._period * _PERIOD + rest


class Link:
    """One direction of a machine's link.

    Parameters
    ----------
    bytes_a_second : float, optional
        None: no limit.
    """

    def __init__(self, env: simpy.Environment, bytes_a_second: float | None) -> None:
        self._env = env
        self._rate = bytes_a_second
        self._free_at = 0.0
        self.bytes = 0.0
        """Bytes that have been sent."""

    def end_of(self, size: float, begin: float) -> float:
        """Return when a message that may begin then has passed the link."""
        self.bytes += size
        if self._rate is None:
            return begin
        self._free_at = max(begin, self._free_at) + size / self._rate
        return self._free_at


@dataclass
class Machine:
    """A machine of a cluster."""

    processor: Processor
    outward: Link
    inward: Link


def transfer(
    env: simpy.Environment, source: Link, target: Link, sent: float, received: float, latency: float
) -> simpy.Event:
    """Return the event that bytes have passed both links.

    Parameters
    ----------
    sent, received : float
        Bytes that pass the first and the second link. They differ where one link stands for many that are alike.
    """
    left = source.end_of(sent, env.now)
    # Bytes pass both links at a time: the second one has them when it has carried them, but not before the first.
    arrived = max(left, target.end_of(received, env.now))
    return env.timeout(arrived + latency - env.now)
