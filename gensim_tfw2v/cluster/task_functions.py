"""What every task does when a coordinator's graph asks for it by name."""

from __future__ import annotations

import json
import os
import platform
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import gensim_tfw2v
from gensim_tfw2v.cluster.errors import TaskError
from gensim_tfw2v.cluster.python_ops import register
from gensim_tfw2v.cluster.task_figures import own_figures
from gensim_tfw2v.operations import load_operations, operations
from gensim_tfw2v.shards import EncodedCorpusError
from gensim_tfw2v.tensorflow_runtime import load_tensorflow

DESCRIBE = "gensim_tfw2v.describe"
INTRODUCE = "gensim_tfw2v.introduce"
MAKE_BLOCK = "gensim_tfw2v.make_block"
OPEN_RUN = "gensim_tfw2v.open_run"
TOUCH_RUN = "gensim_tfw2v.touch_run"
CLOSE_RUN = "gensim_tfw2v.close_run"
UNKNOWN_MODEL = "the model has not been introduced"
_MODELS_KEPT = 4


@dataclass
class _Run:
    """Tables that a coordinator has made on this server."""

    tables: list[str]
    key: int
    touched: float = field(default_factory=time.monotonic)


class Task:
    """The state behind the functions of one process."""

    def __init__(self) -> None:
        self._models: OrderedDict[str, Any] = OrderedDict()
        self._runs: dict[str, _Run] = {}
        self._blocks = 0
        self._lock = threading.Lock()

    def describe(self) -> bytes:
        """Return versions, process, use of the machine and runs, as JSON."""
        try:
            operations()  # tests them, which has to wait until this process's server has set up the devices
        except ImportError as error:
            raise TaskError(str(error)) from None
        with self._lock:
            now = time.monotonic()
            runs = {name: {"tables": run.tables, "idle": now - run.touched} for name, run in self._runs.items()}
        return json.dumps(
            {
                "package": gensim_tfw2v.__version__,
                "tensorflow": load_tensorflow().__version__,
                "python": platform.python_version(),
                "host": platform.node(),
                "process": os.getpid(),
                "figures": own_figures().tolist(),
                "blocks": self._blocks,
                "runs": runs,
            }
        ).encode()

    def introduce(self, name: bytes, model: Any) -> np.bool_:
        """Take note of a model, whose blocks can be made here from now on."""
        from gensim_tfw2v.cluster.wire import WorkerModel

        known = WorkerModel.from_bytes(model.tobytes())
        with self._lock:
            self._models[_text(name)] = known
            self._models.move_to_end(_text(name))
            while len(self._models) > _MODELS_KEPT:
                self._models.popitem(last=False)
        return np.bool_(True)

    def make_block(self, name: bytes, assignment: Any) -> Any:
        """Return the arrays of the block that an assignment makes."""
        from gensim_tfw2v.cluster import wire
        from gensim_tfw2v.work import prepare

        with self._lock:
            known = self._models.get(_text(name))
        if known is None:
            raise TaskError(UNKNOWN_MODEL)
        _, shards, rivals, sharing, work = wire.Assignment.from_array(assignment)
        try:
            prepared = prepare(known.maker, work)
        except (OSError, EncodedCorpusError) as error:
            raise TaskError(str(error)) from None
        staged = wire.stage(known, prepared, shards, rivals, sharing, own_figures())
        self._blocks += 1
        return load_tensorflow().nest.flatten(staged)

    def open_run(self, name: bytes, tables: bytes) -> np.bool_:
        """Take note of the tables that a run is going to make here."""
        with self._lock:
            self._runs[_text(name)] = _Run(json.loads(_text(tables)), key_of(_text(name)))
        return np.bool_(True)

    def touch_run(self, key: Any) -> Any:
        """Take note that the run with this key is alive, and return this task's figures."""
        with self._lock:
            for run in self._runs.values():
                if run.key == key:
                    run.touched = time.monotonic()
        return own_figures()

    def close_run(self, name: bytes) -> np.bool_:
        """Forget a run whose tables have been freed."""
        with self._lock:
            self._runs.pop(_text(name), None)
        return np.bool_(True)


def key_of(run: str) -> int:
    """Return the number that stands for a run's name in messages; another run with the same one would do no harm."""
    return zlib.crc32(run.encode()) >> 1  # 31 bits


def register_functions() -> None:
    """Make this process able to be a task: call it before starting a `tf.distribute.Server` of your own."""
    load_operations()  # graphs that come here are made of them
    task = Task()
    functions: dict[str, Callable[..., Any]] = {
        DESCRIBE: task.describe,
        INTRODUCE: task.introduce,
        MAKE_BLOCK: task.make_block,
        OPEN_RUN: task.open_run,
        TOUCH_RUN: task.touch_run,
        CLOSE_RUN: task.close_run,
    }
    for name, function in functions.items():
        register(name, function)


def _text(value: Any) -> str:
    """Return a string that TensorFlow hands over as bytes, or as an array of them."""
    value = value.item() if hasattr(value, "item") else value
    return value.decode() if isinstance(value, bytes) else str(value)
