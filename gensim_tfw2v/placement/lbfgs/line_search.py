"""How far to go along a direction: a step that lowers the loss enough and reaches a flatter place.

Both are the weak Wolfe conditions. Steps that fail the first are too long, those that fail only the second too short.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_ENOUGH_LOWER = 1e-4  # share of the fall that the slope at the start promises
_FLATTER = 0.9  # share of the slope at the start that may be left
_MOST_LONGER, _LEAST_LONGER = 10.0, 2.0  # factors by which a step that is too short grows
_MARGIN = 0.1  # share of the bracket by which a step keeps away from its ends
_PATIENT_TRIALS = 8  # after this many trials, any step that lowers the loss enough is taken
_MOST_TRIALS = 25


@dataclass(frozen=True)
class _Trial:
    length: float
    loss: float
    slope: float


class LineSearch:
    """Proposes step lengths, one after the other.

    Parameters
    ----------
    loss, slope : float
        Loss and slope at the start; the slope is negative.
    length : float
        Length of the first step to try.
    """

    def __init__(self, loss: float, slope: float, length: float) -> None:
        self._start = self._low = _Trial(0.0, loss, slope)
        self._high: _Trial | None = None
        self._trials = 0
        self.length = length

    @property
    def has_failed(self) -> bool:
        """Whether no step is worth a further trial."""
        return self._trials >= _MOST_TRIALS or not self.length > 0 or self.length == self._low.length

    def accepts(self, loss: float, slope: float) -> bool:
        """Return whether the step of the present length is taken; if not, `length` is the next one to try."""
        self._trials += 1
        trial, start = _Trial(self.length, loss, slope), self._start
        is_lower = loss <= start.loss + _ENOUGH_LOWER * self.length * start.slope and loss < start.loss
        if not (is_lower and math.isfinite(slope)):
            self._high = trial
        elif slope >= _FLATTER * start.slope or self._trials > _PATIENT_TRIALS:
            return True
        else:
            self._low = trial
        self.length = self._longer(trial) if self._high is None else self._between(self._high)
        return False

    def _longer(self, trial: _Trial) -> float:
        """Return a longer step: where the slope would be 0 if it kept growing as it has so far, within limits."""
        growth = trial.slope - self._start.slope
        wanted = trial.length * self._start.slope / -growth if growth > 0 else math.inf
        return min(max(wanted, _LEAST_LONGER * trial.length), _MOST_LONGER * trial.length)

    def _between(self, high: _Trial) -> float:
        """Return a step within the bracket: the lowest place of the parabola that fits what is known at its ends."""
        low, width = self._low, high.length - self._low.length
        bend = high.loss - low.loss - low.slope * width
        share = -low.slope * width / (2 * bend) if bend > 0 and math.isfinite(bend) else _MARGIN
        return low.length + width * min(max(share, _MARGIN), 1 - _MARGIN)
