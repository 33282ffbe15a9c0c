"""Which model a worker knows: it is sent before it is needed, and again if the worker has forgotten it.

A worker keeps the models of a few trainings. Those of other trainings may take a model's place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.placement.tasks.block_factory import UNKNOWN_MODEL
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

_Result = TypeVar("_Result")


def has_forgotten_model(error: Exception) -> bool:
    """Return whether a call failed because its worker does not know the model. Such a call has changed nothing."""
    return remote_functions.task_error_message(error) == UNKNOWN_MODEL


class Registration:
    """Which model a worker knows, as far as this process has sent it."""

    def __init__(self) -> None:
        self._known: str | None = None

    def knows(self, model: str) -> bool:
        """Return whether the worker has received the model of this name."""
        return self._known == model

    def ensure(self, model: str, send: Callable[[], None]) -> None:
        """Call `send`, which sends the worker its model, unless the worker knows it."""
        if not self.knows(model):
            send()
            self._known = model

    def forget(self) -> None:
        """Cause the model to be sent again before it is needed next."""
        self._known = None

    def call(self, model: str, send: Callable[[], None], function: Callable[[], _Result]) -> _Result:
        """Return the result of a function that needs the model; call it again if the worker has forgotten the model."""
        self.ensure(model, send)
        try:
            return function()
        except load_tensorflow().errors.OpError as error:
            if not has_forgotten_model(error):
                raise
        self.forget()
        self.ensure(model, send)
        return function()
