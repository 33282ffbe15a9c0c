"""Times the blocks that a training trains, whichever commit the package is from."""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from collections.abc import Iterator
from typing import Any

from measuring.checkout import find_in_package

# By their present names: what a class is called, and where it is. Older commits have others.
_CLASSES = {
    "LocalRounds": (("LocalRounds", ("placement.synchronous.local_rounds",)),),
    "LocalPlacement": (("LocalPlacement", ("placement.local.placement", "placement.local")),),
    "DownpourPlacement": (
        ("DownpourPlacement", ("placement.downpour.placement",)),
        ("ClusterPlacement", ("placement.downpour.placement", "placement.parameter_servers.placement")),
        ("ClusterPlacement", ("placement.parameter_servers",)),
    ),
}


class BlockTimes:
    """How long each block took, in the order they ended."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.pairs = 0  # trained in all of them
        self._lock = threading.Lock()

    def add(self, seconds: float, pairs: int) -> None:
        """Take a block in."""
        with self._lock:
            self.seconds.append(seconds)
            self.pairs += pairs

    def first_graph_seconds(self) -> float | None:
        """Return how much longer than others the first block took: the graph is made in it. None for one block."""
        if len(self.seconds) < 2:
            return None
        return max(0.0, self.seconds[0] - statistics.median(self.seconds[1:]))


def _class_of(name: str) -> Any:
    """Return the class that has this name at present."""
    *former, (last, modules) = _CLASSES[name]
    for name_then, modules_then in former:
        with contextlib.suppress(ModuleNotFoundError, AttributeError):
            return find_in_package(name_then, modules_then)
    return find_in_package(last, modules)


def _classes_of(name: str) -> list[Any]:
    """Return the class that has this name at present, and the one that trains in its place where devices draw."""
    found = [_class_of(name)]
    if name == "LocalPlacement":
        with contextlib.suppress(ModuleNotFoundError, AttributeError):  # older commits have none
            found.append(find_in_package("DrawingPlacement", ("placement.local.drawing_placement",)))
    return found


@contextlib.contextmanager
def timed_blocks(class_name: str, times: BlockTimes) -> Iterator[None]:
    """Add every block that a placement of one of the `_CLASSES` trains meanwhile to `times`.

    The module of `DownpourPlacement` imports TensorFlow.
    """
    with contextlib.ExitStack() as stack:
        for placement in _classes_of(class_name):
            stack.enter_context(_timed(placement, times))
        yield


@contextlib.contextmanager
def _timed(placement: Any, times: BlockTimes) -> Iterator[None]:
    """Add every block that a class of placements trains meanwhile to `times`."""
    train_chunk = placement.train_chunk

    def timed(self: Any, task: Any) -> Any:
        began = time.perf_counter()
        trained = train_chunk(self, task)
        times.add(time.perf_counter() - began, int(trained.pairs.sum()))
        return trained

    placement.train_chunk = timed
    try:
        yield
    finally:
        placement.train_chunk = train_chunk
