"""How much of a row's change a worker sends back while others, who pulled the same row, send theirs as well."""

from __future__ import annotations

from typing import Any

import numpy as np

from gensim_tfw2v.vocabulary import Float32Array

_SETTLING = 0.15  # how much of its way to where it settles a row goes for each place in a block and unit of rate


def damping_factors(places: Any, rate: float, rivals: int) -> Float32Array:
    """Return the share (1 / rivals to 1) of each row's change that is to be added.

    A row that a block touches once or twice takes a small step, and the steps of several blocks add up as if they
    had come one after the other. A row touched very often settles within a block: so do the rivals' copies, near the
    same place, and adding up their ways would overshoot it `rivals` times. With each place a row goes a little of
    what is left of its way, so that a block brings it the part 1 - exp(-k) of its way, and n blocks one after the
    other 1 - exp(-n k); the factor makes n blocks at once do the same.

    Parameters
    ----------
    places : ndarray of int
        Places of the block in which each row stands.
    rate : float
        The block's mean learning rate.
    rivals : int
        Blocks that are being trained at the same time, this one included.
    """
    settled = np.maximum(places * (_SETTLING * rate), 1e-6)
    factors: Float32Array = (np.expm1(-rivals * settled) / (rivals * np.expm1(-settled))).astype(np.float32)
    return factors
