"""All private parts of TensorFlow that this package uses, each with the reason why no public part is enough.

They may change with any version of TensorFlow. `tests/runtime/test_private_tensorflow.py` uses every function here, and
`scripts/test-versions` runs it on the oldest and the newest version that is allowed, 2.16 and 2.21.

TensorFlow must be loaded before a call (`runtime.tensorflow`), except for `has_started`.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any


def has_started() -> bool:
    """Return whether TensorFlow runs its threads in this process, without importing it.

    It starts them with its first operation, not when it is imported, and no public function distinguishes the two.
    """
    module = sys.modules.get("tensorflow.python.eager.context")
    context = getattr(module, "_context", None)
    return getattr(context, "_context_handle", None) is not None


def anonymous_name() -> str:
    """Return the name with which an operation makes a variable that can be reached only by its handle.

    `tf.Variable` uses it, but its Python object cannot live in a graph that makes and destroys a variable in each run.
    """
    from tensorflow.python.eager import context

    name: str = context.anonymous_name()
    return name


def end_after(tensors: Sequence[Any]) -> None:
    """Have the function whose graph is being made end after these tensors for operations that wait for its end.

    `tf.function` does so for all operations with side effects. A function of `tf.compat.v1.wrap_function` ends at once
    for whatever waits for it without taking its values, and no public function changes that.
    """
    import tensorflow

    tensorflow.compat.v1.get_default_graph().control_outputs.extend(tensor.op for tensor in tensors)


def create_in_turn(strategy: Any, creator: Callable[..., Any]) -> None:
    """Have a `ParameterServerStrategy` call a variable's creator, under the device of the server whose turn it is.

    The strategy's public scope does the same, but also starts TensorFlow's ClusterCoordinator: threads for all workers,
    and messages in the log when the process ends.
    """
    import tensorflow

    # A variable of rank 0 is not cut by the user's partitioner.
    arguments = {"initial_value": lambda: 0.0, "shape": (), "dtype": tensorflow.float32, "trainable": False}
    strategy.extended._create_variable(creator, **arguments)


# -- threads -------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def own_executor() -> Iterator[Any]:
    """Run this thread's operations with an executor of its own, as TensorFlow's ClusterCoordinator does.

    Threads without one share an executor, in which an error of one thread stays until the next operation of any thread
    reports it. The executor stays with this thread until the thread ends: TensorFlow's own `executor_scope` would keep
    an object of the shared executor, and Python shows that executor's error, which may come from a lost server, when it
    deletes such an object.

    Yield the executor, whose `clear_error()` drops the error of the thread's last operation.
    """
    import tensorflow
    from tensorflow.python.eager import context, executor

    own = executor.new_executor(enable_async=False)
    context.context().executor = own
    yield own
    with contextlib.suppress(tensorflow.errors.OpError):
        own.wait()  # raises the last error, which no longer matters
    own.clear_error()


def clear_error() -> None:
    """Clear the error of this thread's last operation on another task, once it has been handled.

    TensorFlow keeps it in the thread's executor. Python shows it, as an exception that was ignored, whenever an object
    of that executor is deleted. Executors have no public interface.
    """
    from tensorflow.python.eager import context

    context.context().executor.clear_error()


# -- functions -----------------------------------------------------------------------------------------------------


def name_python_function(name: str, function: Callable[..., Any]) -> None:
    """Let the operation PyFunc find a Python function under this token. The caller keeps the function alive.

    `tf.py_function` chooses tokens itself, which only its own process knows. Tasks call each other's functions.
    """
    from tensorflow.python.ops import script_ops

    script_ops._py_funcs._funcs[name] = function  # holds weak references


def call_with_tensors(function: Any, tensors: Sequence[Any]) -> Any:
    """Return the result of a concrete function whose arguments are tensors, flat.

    A public call compares each argument with the function's signature, which takes several times as long as the rest of
    the call, with Python's lock held.
    """
    return function._inference_function.call_preflattened([*tensors, *function.captured_inputs])


def new_cancellation() -> Any:
    """Return an object that cancels the calls of graphs that are made with it: its `start_cancel()` ends them.

    The public function, `get_cancelable_function`, keeps the object in a global variable, so calls of other threads
    would be cancelled with it.
    """
    from tensorflow.python.eager import cancellation

    return cancellation.CancellationManager()


def call_with_cancellation(function: Any, inputs: Sequence[Any], cancellation: Any) -> list[Any]:
    """Return the outputs of a concrete function, flat, unless the call is cancelled.

    Parameters
    ----------
    function : ConcreteFunction
        The function to call.
    inputs : sequence of tensors
        Its arguments, flat.
    cancellation : object
        The object that `new_cancellation` returned.
    """
    from tensorflow.python.eager import context, execute

    own = context.context()
    own.ensure_initialized()
    outputs: list[Any] = execute.execute_with_cancellation(
        function.name.decode(),
        num_outputs=len(function.outputs),
        inputs=[*inputs, *function.captured_inputs],
        attrs=tuple(itertools.chain(*own.function_call_options.as_attrs().items())),
        ctx=own,
        cancellation_manager=cancellation,
    )
    return outputs


@contextlib.contextmanager
def no_order_of_operations(graph: Any) -> Iterator[None]:
    """Add no order to the operations of loops that are made in a graph meanwhile, except the order that they state.

    `tf.function` has all operations with a state run in the order of the program, so operations on servers run one
    after the other, and nothing public turns that off.
    """
    before, graph._add_control_dependencies = graph._add_control_dependencies, False
    try:
        yield
    finally:
        graph._add_control_dependencies = before


# -- tasks ---------------------------------------------------------------------------------------------------------


def wait_for_tasks_without_lock() -> None:
    """Have TensorFlow, from now on, release Python's lock while it connects to tasks and sends them functions.

    TensorFlow waits for the answers of all tasks with the lock held, so a task that has stopped would stop all threads
    of this process. `ctypes` releases the lock during its calls of C functions.
    """
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.client import pywrap_tf_session
    from tensorflow.python.framework import c_api_util

    def set_server_definition(context: Any, keep_alive_seconds: int, definition: bytes) -> None:
        arguments = ctypes.c_int(keep_alive_seconds), definition, ctypes.c_size_t(len(definition))
        _call_without_lock("TFE_ContextSetServerDef", context, *arguments)

    def add_function(context: Any, function: Any) -> None:
        with c_api_util.tf_buffer() as buffer:
            pywrap_tf_session.TF_FunctionToFunctionDef(function, buffer)
            definition = pywrap_tf_session.TF_GetBuffer(buffer)
        add_function_definition(context, definition, len(definition))

    def add_function_definition(context: Any, definition: bytes, size: int) -> None:
        _call_without_lock("TFE_ContextAddFunctionDef", context, definition, ctypes.c_size_t(size))

    def remove_function(context: Any, name: str | bytes, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if is_ending():  # and with this process, everything that tasks keep for it
            return
        encoded = name if isinstance(name, bytes) else name.encode()
        _call_without_lock("TFE_ContextRemoveFunction", context, encoded)

    pywrap_tfe.TFE_ContextSetServerDef = set_server_definition
    pywrap_tfe.TFE_ContextAddFunction = add_function
    pywrap_tfe.TFE_ContextAddFunctionDef = add_function_definition
    pywrap_tfe.TFE_ContextRemoveFunction = remove_function


def _call_without_lock(name: str, context: Any, *arguments: Any) -> None:
    """Call a function of TensorFlow's C interface, and raise the error that it reports."""
    import tensorflow

    library = _c_library()
    status = ctypes.c_void_p(library.TF_NewStatus())
    try:
        library[name](ctypes.c_void_p(_pointer_in(context)), *arguments, status)
        if code := library.TF_GetCode(status):
            message = library.TF_Message(status).decode(errors="replace")
            raise tensorflow.compat.v1.errors.exception_type_from_error_code(code)(None, None, message)
    finally:
        library.TF_DeleteStatus(status)


@functools.cache
def _c_library() -> ctypes.CDLL:
    from tensorflow.python import _pywrap_tfe

    library = ctypes.CDLL(_pywrap_tfe.__file__)
    library.TF_NewStatus.restype = ctypes.c_void_p
    library.TF_Message.restype = ctypes.c_char_p
    return library


def _pointer_in(capsule: Any) -> int:
    """Return the pointer that a Python capsule holds."""
    name, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    found: int = pointer(capsule, name(capsule))
    return found


def server_definition() -> Any:
    """Return the definition of all tasks that TensorFlow is connected to, None if it is connected to none.

    `tf.config.experimental_connect_to_cluster` sets it, and nothing public returns it.
    """
    from tensorflow.python.eager import context

    return context.context()._server_def


def update_server_definition(definition: Any) -> None:
    """Connect TensorFlow to the tasks of another definition; tasks that stay keep their state.

    `tf.config.experimental_connect_to_cluster` invalidates everything that this process has on all tasks.
    """
    from tensorflow.python.eager import context

    context.context().update_server_def(definition)


@contextlib.contextmanager
def server_definition_in_two_steps(first: Callable[[Any], Any], then: Callable[[Any], Any]) -> Iterator[None]:
    """Meanwhile, make TensorFlow's strategies set definitions of tasks in two steps.

    With the first definition, TensorFlow begins to listen. Only the second one connects it to other tasks.

    Parameters
    ----------
    first : callable
        Takes a definition, and returns the one that is set first.
    then : callable
        Takes the definition once the first one is set, and returns the one that replaces it.
    """
    from tensorflow.python.eager import context

    set_at_once = context.set_server_def

    def set_in_two_steps(definition: Any) -> None:
        set_at_once(first(definition))
        context.ensure_initialized()
        context.update_server_def(then(definition))

    context.set_server_def = set_in_two_steps
    try:
        yield
    finally:
        context.set_server_def = set_at_once
