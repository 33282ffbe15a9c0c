"""A corpus so small that many epochs overfit it: the loss of other sentences of its kind falls, and then rises."""

from __future__ import annotations

from typing import Any

import numpy as np
from gensim.models.callbacks import CallbackAny2Vec

from gensim_tfw2v import TFWord2Vec
from support.contract import learnt_arrays


def sentences(count: int, seed: int) -> list[list[str]]:
    """Return sentences of six words, all of one of four topics of ten words."""
    random = np.random.default_rng(seed)
    topics = random.integers(0, 4, count)
    return [[f"w{topic}{word}" for word in random.integers(0, 10, 6)] for topic in topics]


TRAINED, OTHERS = sentences(100, seed=1), sentences(400, seed=2)
EPOCHS = 40
# With one rate for all epochs, a training of fewer epochs is the beginning of one of more.
SETTINGS: dict[str, Any] = {
    **{"vector_size": 16, "min_count": 1, "workers": 1, "sample": 0, "window": 5, "epochs": EPOCHS},
    **{"alpha": 0.1, "min_alpha": 0.1, "sg": 1},
}


class Snapshots(CallbackAny2Vec):
    """Keeps what a model has learnt at the end of each epoch, and the validation losses that it has then."""

    def __init__(self) -> None:
        self.learnt: list[dict[str, np.ndarray]] = []
        self.losses: list[list[float]] = []

    def on_epoch_end(self, model: Any) -> None:
        self.learnt.append({name: array.copy() for name, array in learnt_arrays(model).items()})
        self.losses.append(list(model.validation_losses))


def assert_learnt(model: TFWord2Vec, learnt: dict[str, np.ndarray]) -> None:
    """Fail unless the model has exactly these arrays."""
    for name, array in learnt.items():
        np.testing.assert_array_equal(learnt_arrays(model)[name], array, err_msg=name)
