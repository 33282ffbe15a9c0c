"""Vectors that a training leaves as they are: which ones, and whether the others can learn from them."""

from __future__ import annotations

import numpy as np
from gensim.models import Word2Vec

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.model.arguments import rule_of
from gensim_tfw2v.model.tables import tables_of
from gensim_tfw2v.placement.contract import RemoteMatrix


def frozen_in_training(model: Word2Vec, given: str | None) -> str | None:
    """Return which vectors `train()` leaves as they are: those that it was `given`, else the model's."""
    found: str | None = rule_of("freeze").plain("freeze", model.freeze if given is None else given)
    return found


def check_can_learn(model: Word2Vec, freeze: str | None) -> None:
    """Raise ValueError if output vectors are to stay as they are and all of them are zeros, as in a new model.

    Then every gradient of the input vectors is zero, and training would change nothing.
    """
    tables = tables_of(model)
    outputs = [table for table in (tables.outputs, tables.nodes) if table is not None]
    if freeze == "outputs" and not any(map(_is_trained, outputs)):
        raise ValueError(
            f"{freeze=} leaves nothing to learn, because all output vectors are zeros, as in a new model; train the "
            "model without freeze first"
        )


def _is_trained(outputs: Float32Array | RemoteMatrix) -> bool:
    return not outputs.store.is_untrained if isinstance(outputs, RemoteMatrix) else bool(np.any(outputs))
