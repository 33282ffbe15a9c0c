"""Says in a file of progress which stage a training begins, so that faults can happen at that moment."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any
from unittest.mock import patch

from fault_injection.training import append_line

# What begins when a function of the package is called.
_BEGINNINGS = {
    "connect": ("gensim_tfw2v.cluster.connection", "_absent_workers"),
    "call": ("gensim_tfw2v.training.epoch", "Epoch._train"),
    "checkpoint": ("gensim_tfw2v.checkpoints.folder", "CheckpointFolder.write"),
    "recovery": ("gensim_tfw2v.model.recovery", "Recovery.wait_for_cluster"),
    "restore": ("gensim_tfw2v.model.recovery", "Recovery.restore"),
    "close": ("gensim_tfw2v.model.table_sync", "TableSync.close"),
}
_ROUNDS = (
    ("gensim_tfw2v.placement.synchronous.round_clock", "RoundClock.begin"),
    ("gensim_tfw2v.placement.averaging.round", "Rounds.train"),
)
# What is done once a function has returned; tells who owns a folder of checkpoints.
_ENDS = {
    "held": ("gensim_tfw2v.checkpoints.folder", "_take"),
    "written": ("gensim_tfw2v.checkpoints.folder", "CheckpointFolder._move_to_its_name"),
}


@contextmanager
def recorded_stages(path: str) -> Iterator[None]:
    """Append a line for each stage to a file meanwhile."""
    with ExitStack() as stack:
        rounds = [("round", place) for place in _ROUNDS]
        for stage, (module, name) in [*_BEGINNINGS.items(), *rounds]:
            stack.enter_context(_replaced(module, name, functools.partial(_beginning, path, stage)))
        for stage, (module, name) in _ENDS.items():
            stack.enter_context(_replaced(module, name, functools.partial(_end, path, stage)))
        yield


def _replaced(module: str, name: str, around: Callable[[Any], Any]) -> Any:
    *owner, function = name.split(".")
    place = functools.reduce(getattr, owner, import_module(module))
    return patch.object(place, function, around(getattr(place, function)))


def _beginning(path: str, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        append_line(path, {"stage": stage})
        return function(*arguments, **named)

    return call


def _end(path: str, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        found = function(*arguments, **named)
        append_line(path, {"stage": stage})
        return found

    return call
