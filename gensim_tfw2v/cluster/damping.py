"""How much of a row's change a worker sends back while others, who pulled the same row, send theirs as well."""

from __future__ import annotations

from typing import Any

import numpy as np

from gensim_tfw2v.vocabulary import Float32Array

_SETTLING = 1.0  # reciprocal of the places times learning rate with which a row has settled within a block


def damping_factors(places: Any, rate: float, rivals: int) -> Float32Array:
    """Return the share (1 / rivals to 1) of each row's change that is to be added.

    A row that a block touches once or twice takes a small step, and the steps of several blocks add up as if they
    had come one after the other. A row touched very often settles within a block: so do the rivals' copies, near the
    same place, and adding up their ways would overshoot it `rivals` times. If a block brings a
    row the part 1 - exp(-k) of its way, n blocks one after the other bring it 1 - exp(-n k); the factor makes n blocks
    at once do the same. That k is the square of places times rate was found by trial: between rare and frequent
    words there is to be a clear line, with sums on the one side and means on the other.

    Parameters
    ----------
    places : ndarray of int
        Places of the block in which each row stands.
    rate : float
        The block's mean learning rate.
    rivals : int
        Blocks that are being trained at the same time, this one included.
    """
    settled = np.maximum((places * (_SETTLING * rate)) ** 2, 1e-6)
    factors: Float32Array = (np.expm1(-rivals * settled) / (rivals * np.expm1(-settled))).astype(np.float32)
    return factors
