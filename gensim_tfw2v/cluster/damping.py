"""How much of a row's change a worker sends back while others, who pulled the same row, send theirs as well."""

from __future__ import annotations

from typing import Any

import numpy as np

from gensim_tfw2v.vocabulary import Float32Array

_SETTLING_TOUCHES = 32.0  # batches of a block after which a row has gone half the way to where it settles


def damping_factors(touches: Any, rivals: int) -> Float32Array:
    """Return the share (1 / rivals to 1) of each row's change that is to be added.

    A row that a block touches once or twice takes a small step, and the steps of several blocks add up as if they
    had come one after the other. A row touched in most batches settles within a block: so do the rivals' copies,
    near the same place, and adding up their ways would overshoot it `rivals` times. Such rows get the mean.

    Parameters
    ----------
    touches : ndarray of int
        Batches of the block that touch each row.
    rivals : int
        Blocks that are being trained at the same time, this one included.
    """
    settled = touches / (touches + _SETTLING_TOUCHES)
    factors: Float32Array = (1.0 / (1.0 + (rivals - 1) * settled)).astype(np.float32)
    return factors
