"""Calls of graphs that another thread may cancel: a call on a task that does not answer would never end."""

from __future__ import annotations

from typing import Any

from gensim_tfw2v.runtime.private_tensorflow import call_with_cancellation, new_cancellation
from gensim_tfw2v.runtime.tensorflow import load_tensorflow


class CancellableCalls:
    """Calls of concrete functions, one after the other, until they are cancelled."""

    def __init__(self) -> None:
        load_tensorflow()
        self._cancellation = new_cancellation()

    def cancel(self) -> None:
        """End the running call, and all later ones, with a CancelledError; the task may continue with it."""
        self._cancellation.start_cancel()

    def run(self, function: Any, *arguments: Any) -> Any:
        """Call a concrete function with these arguments, nested tuples of tensors, and return its result."""
        tf = load_tensorflow()
        outputs = call_with_cancellation(function, tf.nest.flatten(arguments), self._cancellation)
        return tf.nest.pack_sequence_as(function.structured_outputs, outputs)
