"""Calls gensim's callbacks at the beginning and the end of epochs, exactly once at each end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class EpochCallbacks:
    """The callbacks of one training, which may be resumed or return to an earlier moment.

    Parameters
    ----------
    ended : int
        Number of epochs at whose end callbacks have been called.
    record : callable, optional
        Keeps the number of such epochs where it outlives this process. It is called before the callbacks, so that these
        are not called twice for an epoch, no matter when the process is killed.
    """

    def __init__(
        self, model: object, callbacks: Sequence[Any], ended: int = 0, record: Callable[[int], None] | None = None
    ) -> None:
        self._model, self._callbacks, self._record = model, callbacks, record
        self._begun = 0
        self.ended = ended

    def __bool__(self) -> bool:
        return bool(self._callbacks)

    def begin(self, epoch: int) -> None:
        """Call the callbacks for the beginning of an epoch, unless that has been done before."""
        if epoch >= self._begun:
            self._begun = epoch + 1
            for callback in self._callbacks:
                callback.on_epoch_begin(self._model)

    def end(self, epoch: int) -> None:
        """Call the callbacks for the end of an epoch, unless that has been done before."""
        if epoch < self.ended:
            return
        self.ended = epoch + 1
        if self._callbacks:
            if self._record is not None:
                self._record(self.ended)
            for callback in self._callbacks:
                callback.on_epoch_end(self._model)
