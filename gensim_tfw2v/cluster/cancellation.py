"""Calls of graphs that another thread may cancel: a call on a task that does not answer would last for ever."""

from __future__ import annotations

import itertools
from typing import Any

from gensim_tfw2v.runtime.tensorflow import load_tensorflow


class CancellableCalls:
    """Calls of concrete functions, one after the other, until they are cancelled.

    TensorFlow's own way, `CancellationManager.get_cancelable_function`, keeps the manager in a global variable. Calls
    of other threads would then run under it, too.
    """

    def __init__(self) -> None:
        load_tensorflow()
        from tensorflow.python.eager import cancellation

        self._manager = cancellation.CancellationManager()

    def cancel(self) -> None:
        """End the running call, and all later ones, with a CancelledError; the task may go on with it."""
        self._manager.start_cancel()

    def run(self, function: Any, *arguments: Any) -> Any:
        """Return what a concrete function returns for these arguments, nested tuples of tensors."""
        tf = load_tensorflow()
        from tensorflow.python.eager import context, execute

        own = context.context()
        own.ensure_initialized()
        outputs = execute.execute_with_cancellation(
            function.name.decode(),
            num_outputs=len(function.outputs),
            inputs=[*tf.nest.flatten(arguments), *function.captured_inputs],
            attrs=tuple(itertools.chain(*own.function_call_options.as_attrs().items())),
            ctx=own,
            cancellation_manager=self._manager,
        )
        return tf.nest.pack_sequence_as(function.structured_outputs, outputs)
