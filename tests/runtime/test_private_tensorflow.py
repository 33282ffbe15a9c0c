"""What the package relies on in TensorFlow's private parts holds for the version that is installed."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from support.child_process import run_script

from gensim_tfw2v.runtime import private_tensorflow as private
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

tf = load_tensorflow()


def run_in_thread(function: Any) -> Any:
    """Return what a function returns in a thread of its own."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join(60)
    (result,) = found
    return result


def test_tensorflow_starts_with_its_first_operation() -> None:
    done = run_script(
        "from gensim_tfw2v.runtime.private_tensorflow import has_started; print(has_started())\n"
        "from gensim_tfw2v.runtime.tensorflow import import_quietly; tf = import_quietly(); print(has_started())\n"
        "tf.constant(0); print(has_started())"
    )
    assert done.stdout.split() == ["False", "False", "True"], done.stderr


def test_variables_with_the_anonymous_name_are_apart() -> None:
    def variable(value: float) -> Any:
        name = private.anonymous_name()
        handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[], shared_name=name)
        tf.raw_ops.AssignVariableOp(resource=handle, value=tf.constant(value))
        return handle

    handles = [variable(1.0), variable(2.0)]
    assert [float(tf.raw_ops.ReadVariableOp(resource=one, dtype=tf.float32)) for one in handles] == [1, 2]


def test_what_waits_for_a_function_without_its_values_waits_for_the_tensors_that_it_ends_after() -> None:
    done: list[int] = []

    def take(value: Any) -> Any:
        threading.Event().wait(0.05)
        done.append(1)
        return value

    def function(value: Any) -> Any:
        taken = tf.numpy_function(take, [value], tf.float32)
        private.end_after([taken])
        return taken

    graph = tf.compat.v1.wrap_function(function, [tf.TensorSpec([], tf.float32)])

    @tf.function(autograph=False)
    def run() -> Any:
        with tf.control_dependencies([graph(tf.constant(1.0))]):
            return tf.numpy_function(lambda: np.int64(len(done)), [], tf.int64)

    assert run().numpy() == 1


def test_a_thread_with_an_executor_of_its_own_runs_operations() -> None:
    def work() -> float:
        with private.own_executor() as executor:
            executor.clear_error()
            result = float(tf.constant(1.0) + 1.0)
        return result

    assert run_in_thread(work) == 2


def test_an_error_that_is_cleared_leaves_the_thread_able_to_run_operations() -> None:
    with pytest.raises(tf.errors.OpError):
        tf.raw_ops.Reshape(tensor=[1, 2], shape=[3])
    private.clear_error()
    assert float(tf.constant(1.0) + 1.0) == 2


def test_a_graph_calls_a_python_function_by_its_name() -> None:
    def double(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return 2 * values

    private.name_python_function("tests.double", double)

    @tf.function  # type: ignore[untyped-decorator]
    def graph() -> Any:
        return tf.raw_ops.PyFunc(input=[tf.constant([3, 4])], token="tests.double", Tout=[tf.int32])[0]

    np.testing.assert_array_equal(graph(), [6, 8])


def test_a_call_that_is_not_cancelled_returns_flat_outputs() -> None:
    captured = tf.Variable(10)
    function = tf.function(lambda one, two: {"sum": one + two + captured, "one": one}).get_concrete_function(
        *2 * [tf.TensorSpec([], tf.int32)]
    )
    outputs = private.call_with_cancellation(function, [tf.constant(1), tf.constant(2)], private.new_cancellation())
    assert [int(output) for output in outputs] == [1, 13]  # "one" before "sum", as nests are sorted


def test_a_call_that_is_cancelled_ends_and_others_do_not() -> None:
    queue = tf.queue.FIFOQueue(1, [tf.int32], shapes=[[]])
    function = tf.function(queue.dequeue).get_concrete_function()
    cancelled, kept = private.new_cancellation(), private.new_cancellation()
    waiting = threading.Thread(target=lambda: private.call_with_cancellation(function, [], kept), daemon=True)
    waiting.start()
    threading.Timer(0.5, cancelled.start_cancel).start()
    with pytest.raises(tf.errors.CancelledError):
        private.call_with_cancellation(function, [], cancelled)
    assert waiting.is_alive()
    queue.enqueue(1)
    waiting.join(60)
    assert not waiting.is_alive()


@pytest.mark.parametrize("is_ordered", [True, False])
def test_operations_of_a_loop_have_an_order_unless_that_is_turned_off(is_ordered: bool) -> None:
    first, second = tf.Variable(0), tf.Variable(0)

    def step(number: Any) -> Any:
        for variable in (first, second):
            tf.print(
                tf.raw_ops.ReadVariableOp(resource=variable.handle, dtype=tf.int32), output_stream="file:///dev/null"
            )
        return [number + 1]

    @tf.function(autograph=False)  # type: ignore[untyped-decorator]
    def graph() -> Any:
        if is_ordered:
            return tf.while_loop(lambda number: number < 3, step, [tf.constant(0)])
        with private.no_order_of_operations(tf.compat.v1.get_default_graph()):
            return tf.while_loop(lambda number: number < 3, step, [tf.constant(0)])

    library = graph.get_concrete_function().graph.as_graph_def().library
    (body,) = (function for function in library.function if "body" in function.signature.name)
    prints = [node for node in body.node_def if node.op == "PrintV2"]
    assert len(prints) == 2
    assert any(name.startswith(f"^{prints[0].name}") for name in prints[1].input) == is_ordered


WITHOUT_LOCK = """
import gc
from gensim_tfw2v.runtime import private_tensorflow as private
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

tf = load_tensorflow()
from tensorflow.python.eager import context
own = context.context()
private.wait_for_tasks_without_lock()

def doubled(number):
    return tf.while_loop(lambda turn, _: turn < 3, lambda turn, found: (turn + 1, found * 2), [0, number])[1]

before = set(own.list_function_names())
function = tf.function(doubled, autograph=False)
print(int(function(tf.constant(5))))
(name,) = [name for name in set(own.list_function_names()) - before if "doubled" in name]
own.add_function_def(own.get_function_def(name))  # now twice
own.remove_function(name)
del function
gc.collect()
print(own.has_function(name))
try:
    own.remove_function("nothing")
except tf.errors.InvalidArgumentError as error:
    print(error.message)
"""


def test_functions_are_added_and_removed_without_pythons_lock() -> None:
    done = run_script(WITHOUT_LOCK)
    assert done.stdout.split("\n")[:-1] == [
        "40",
        "False",
        "Tried to remove non-existent function 'nothing'.",
    ], done.stderr


CONNECTING = """
import copy
from gensim_tfw2v import local_cluster
from gensim_tfw2v.runtime import private_tensorflow as private
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

tf = load_tensorflow()
print(private.server_definition())

def jobs():
    return ",".join(sorted(job.name for job in private.server_definition().cluster.job))

def without_tasks(definition):
    print("first")
    alone = copy.deepcopy(definition)
    for job in [job for job in alone.cluster.job if job.name in ("ps", "worker")]:
        alone.cluster.job.remove(job)
    return alone

def whole(definition):
    print("between", jobs())
    return definition

with local_cluster(ps=1, workers=1) as cluster:
    addresses = cluster.as_dict()
    with private.server_definition_in_two_steps(without_tasks, whole):
        tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec(addresses), job_name="chief")
    print("connected", jobs())
    whole = copy.deepcopy(private.server_definition())
    private.update_server_definition(without_tasks(whole))
    print("fewer", jobs())
    private.update_server_definition(whole)
    with tf.device("/job:ps/task:0"):
        print("on", tf.constant(1).device.split("/")[1])
"""


@pytest.mark.slow
def test_tasks_are_connected_in_two_steps_and_left_out_and_taken_in_again() -> None:
    done = run_script(CONNECTING)
    assert done.stdout.split("\n")[:-1] == [
        "None",
        "first",
        "between chief",
        "connected chief,ps,worker",
        "first",
        "fewer chief",
        "on job:ps",
    ], done.stderr


@pytest.mark.slow
def test_a_strategy_calls_a_creator_on_one_server_after_the_other_and_starts_no_coordinator() -> None:
    done = run_script(
        "import logging, threading\n"
        "from gensim_tfw2v import local_cluster\n"
        "from gensim_tfw2v.cluster.connection import connect\n"
        "from gensim_tfw2v.runtime.private_tensorflow import create_in_turn\n"
        "logging.basicConfig(level=logging.INFO)\n"
        "devices = []\n"
        "class Made: name, shape = 'made', ()\n"
        "def make(**_):\n"
        "    import tensorflow as tf\n"
        "    devices.append(tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[], shared_name='a').device[-25:])\n"
        "    return Made\n"
        "with local_cluster(ps=2, workers=1) as cluster:\n"
        "    strategy, threads = connect(cluster).strategy, threading.active_count()\n"
        "    for _ in range(3): create_in_turn(strategy, make)\n"
        "    print(*devices, threading.active_count() - threads)\n"
    )
    first, second, third, threads = done.stdout.split()
    assert first == third != second
    assert threads == "0"
    assert "ClusterCoordinator" not in done.stderr


def test_a_concrete_function_called_with_flat_tensors_returns_its_structured_result() -> None:
    variable = tf.Variable(10.0)  # a captured input of the function

    @tf.function(input_signature=[(tf.TensorSpec([None]), tf.TensorSpec([])), tf.TensorSpec([])])
    def function(pair: Any, factor: Any) -> Any:
        return {"sum": pair[0] + pair[1] + variable, "scaled": pair[0] * factor}

    arguments = [tf.constant([1.0, 2.0]), tf.constant(3.0), tf.constant(4.0)]
    found = private.call_with_tensors(function.get_concrete_function(), arguments)
    assert {name: value.numpy().tolist() for name, value in found.items()} == {"sum": [14, 15], "scaled": [4, 8]}
