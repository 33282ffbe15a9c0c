"""A worker's functions that graphs call by name: they keep models, and make blocks for them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import UInt8Array
from gensim_tfw2v.cluster.errors import TaskError, brief
from gensim_tfw2v.cluster.task import own_metrics, text_of
from gensim_tfw2v.corpus.shard_file import EncodedCorpusError
from gensim_tfw2v.placement.tasks.block_kind import BlockKind, read_assignment
from gensim_tfw2v.placement.tasks.codec import decode
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.kernel import kernel

REGISTER_MODEL = "gensim_tfw2v.register_model"
UNKNOWN_MODEL = "the model has not been registered"
_MODELS_KEPT = 4


class BlockFactory:
    """Makes blocks for the models that coordinators have registered.

    Parameters
    ----------
    cores : int
        How many cores of this task may train a block.
    """

    def __init__(self, cores: int = 1) -> None:
        self.blocks = 0
        self._cores = cores
        self._models: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()

    def details(self) -> dict[str, Any]:
        """Return what this task adds to its description, after a test that the operations work here."""
        try:
            used = kernel()  # not before a coordinator asks: by then this process's server has set up the devices
        except ImportError as error:
            raise TaskError(str(error)) from None
        return {"blocks": self.blocks, "cores": self._cores, "step": used.name}

    def register_model(self, name: bytes, model: Any) -> np.bool_:
        """Keep a model, for which this task can make blocks from now on."""
        known = decode(WorkerModel, model.copy())  # which outlives TensorFlow's own bytes
        with self._lock:
            self._models[text_of(name)] = known
            self._models.move_to_end(text_of(name))
            while len(self._models) > _MODELS_KEPT:
                self._models.popitem(last=False)
        return np.bool_(True)

    def made(self, kind: BlockKind[Any], name: bytes, assignment: Any, *number: Any) -> Any:
        """Return the arrays of a block of this kind, for the model of this name and an assignment's bytes.

        `number` is the block's place, if the chunk has several blocks.
        """

        def make(model: WorkerModel, work: Any) -> Any:
            return kind.make(model, work.within(self._cores), own_metrics(), *map(int, number))

        found = self.answer(name, assignment, make, kind.read)
        self.blocks += 1
        return load_tensorflow().nest.flatten(found)

    def answer(
        self,
        name: bytes,
        assignment: Any,
        make: Callable[[WorkerModel, Any], Any],
        read: Callable[[UInt8Array], Any] = read_assignment,
    ) -> Any:
        """Return what `make` returns for the model of this name and the assignment that `read` reads from the bytes."""
        with self._lock:
            known = self._models.get(text_of(name))
        if known is None:
            raise TaskError(UNKNOWN_MODEL)
        work = read(assignment)
        try:
            return make(known, work)
        except (OSError, EncodedCorpusError) as error:
            raise TaskError(str(error)) from None
        except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, MemoryError) as error:
            # The task continues: the request does not fit the model, or the block does not fit the memory.
            raise TaskError(f"cannot make a block: {type(error).__name__}: {brief(error)}") from error
