"""L-BFGS: loss and gradient at one point after the other → the next point to evaluate.

The two-loop recursion of Nocedal's "Updating quasi-Newton matrices with limited storage" (1980), for vectors that are
kept anywhere. It begins with a diagonal matrix that has a scale for each row. Without it, rows of frequent words, which
have far larger gradients, would make the steps of all other rows too short.

While a step is tried, its point and gradient are kept in the vectors that its pair of the history will have.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

from gensim_tfw2v.placement.lbfgs.line_search import LineSearch
from gensim_tfw2v.placement.lbfgs.vector_space import (
    DIRECTION,
    GRADIENT,
    POINT,
    VectorSpace,
    change_name,
    step_name,
)

_LEAST_CURVATURE = 1e-10  # of a pair that is kept: product of step and change, in scaled squares of the change
_LEAST_LENGTH = 1e-6  # of a row's gradient that counts for its scale, in lengths of the whole gradient
_TINY = 1e-30  # where the whole gradient is 0


@dataclass(frozen=True)
class _Pair:
    """A step and the gradient's change along it, by the number of their vectors."""

    number: int
    product: float  # product of step and change
    scale: float  # of the inverse Hessian besides the rows' scales, according to this pair alone


@dataclass
class Steps:
    """The results of the evaluations so far."""

    evaluations: int = 0
    losses: list[float] = field(default_factory=list)  # at each accepted point, the first one included
    lengths: list[float] = field(default_factory=list)  # of accepted steps, in multiples of their directions
    restarts: int = 0  # how often the history was dropped because no step along a direction was good
    is_stuck: bool = False  # no step lowers the loss any more


class Minimizer:
    """Lowers a loss step by step. The caller evaluates loss and gradient where `propose` has set the trial point.

    Parameters
    ----------
    space : VectorSpace
        Has all of `vector_space.vector_names(history)`.
    history : int
        Pairs that the recursion uses.
    """

    def __init__(self, space: VectorSpace, history: int) -> None:
        self._space, self._history = space, history
        self.steps = Steps()
        self.restart()

    def restart(self) -> None:
        """Begin anew at the present point, where loss and gradient are not known."""
        self._pairs: deque[_Pair] = deque()
        self._own = 0  # number of the pair whose vectors the trial uses
        self._loss: float | None = None
        self._search: LineSearch | None = None
        self.steps.is_stuck = False

    @property
    def trial(self) -> str:
        """The vector that has the point to evaluate."""
        return step_name(self._own)

    @property
    def trial_gradient(self) -> str:
        """The vector that gets the gradient at that point; `propose` has cleared it."""
        return change_name(self._own)

    def propose(self) -> None:
        """Set the trial point to the next one to evaluate."""
        if self._loss is not None and self._search is None and not self.steps.is_stuck:
            self._begin_search(self._loss)
        length = 0.0 if self._search is None else self._search.length
        self._space.set_sum(self.trial, POINT, length, DIRECTION)
        self._space.clear(self.trial_gradient)

    def judge(self, loss: float) -> bool:
        """Return whether the trial point, where the loss is `loss`, is accepted as the present point."""
        self.steps.evaluations += 1
        if self._loss is None:
            self._loss = loss
            self.steps.losses.append(loss)
            self._space.set_sum(GRADIENT, self.trial_gradient, 0.0, self.trial_gradient)
            length = math.sqrt(self._space.dot(GRADIENT, GRADIENT))
            self._space.set_scales(GRADIENT, max(_LEAST_LENGTH * length, _TINY))
            return True
        if self._search is None:  # stuck
            return False
        if self._search.accepts(loss, self._space.dot(self.trial_gradient, DIRECTION)):
            self._accept(loss)
            return True
        if self._search.has_failed:
            self._give_direction_up()
        return False

    def _accept(self, loss: float) -> None:
        assert self._search is not None
        self.steps.losses.append(loss)
        self.steps.lengths.append(self._search.length)
        self._loss, self._search = loss, None
        step, change = self.trial, self.trial_gradient
        self._space.replace(POINT, step)
        self._space.replace(GRADIENT, change)
        product, square = self._space.dot(step, change), self._space.scaled_square(change)
        if product > _LEAST_CURVATURE * square:  # the loss curves upwards along the step
            self._pairs.append(_Pair(self._own, product, product / square))

    def _give_direction_up(self) -> None:
        """Continue with the steepest descent, or stay if that was the direction."""
        self.steps.is_stuck = not self._pairs
        self.steps.restarts += not self.steps.is_stuck
        self._pairs.clear()
        self._search = None

    def _begin_search(self, loss: float) -> None:
        slope = self._set_direction()
        if not slope < 0 and self._pairs:
            self._pairs.clear()
            self.steps.restarts += 1
            slope = self._set_direction()
        if not slope < 0:
            self.steps.is_stuck = True
            return
        # The scale of a steepest descent is not known yet, so its first step has the length 1.
        self._search = LineSearch(loss, slope, 1.0 if self._pairs else 1.0 / math.sqrt(-slope))
        if len(self._pairs) == self._history:
            self._pairs.popleft()
        used = {pair.number for pair in self._pairs}
        self._own = next(number for number in range(self._history) if number not in used)

    def _set_direction(self) -> float:
        """Set the direction by the two-loop recursion, and return the slope along it."""
        space, oldest_first = self._space, list(self._pairs)
        steps = [step_name(pair.number) for pair in oldest_first]
        changes = [change_name(pair.number) for pair in oldest_first]
        # Each call also returns the direction's product with the vector that the next call needs.
        product = space.scale_add(DIRECTION, 0.0, -1.0, GRADIENT, [GRADIENT, *steps][-1])
        shares = [0.0] * len(oldest_first)
        for place in reversed(range(len(oldest_first))):
            shares[place] = product / oldest_first[place].product
            partner = steps[place - 1] if place else GRADIENT
            product = space.scale_add(DIRECTION, 1.0, -shares[place], changes[place], partner)
        scale = oldest_first[-1].scale if oldest_first else 1.0
        product = space.scale_rows(DIRECTION, scale, [*changes, GRADIENT][0])
        for place, pair in enumerate(oldest_first):
            share = shares[place] - product / pair.product
            product = space.scale_add(DIRECTION, 1.0, share, steps[place], [*changes, GRADIENT][place + 1])
        return product
