"""A callback that keeps what a model has learnt at the end of each epoch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gensim.models.callbacks import CallbackAny2Vec


class EpochVectors(CallbackAny2Vec):
    """Keeps the vectors at the end of each epoch, and calls a function then."""

    def __init__(self, at_end: Callable[[int], None] = lambda epoch: None) -> None:
        self.vectors: list[np.ndarray] = []
        self._at_end = at_end

    def on_epoch_end(self, model: Any) -> None:
        self.vectors.append(model.wv.vectors.copy())
        self._at_end(len(self.vectors))
