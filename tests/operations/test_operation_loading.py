"""Operations are compiled without warnings, and loading them finds out whether they work."""

from __future__ import annotations

import ctypes
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.child_process import run_script
from support.compiler import compile_c, library_without_functions, needs_a_compiler

import gensim_tfw2v.operations as package
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.operations import load_operations, operations
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

SOURCES = Path(package.__file__).parent


@pytest.mark.slow
@needs_a_compiler
@pytest.mark.parametrize("source", sorted(SOURCES.glob("*.c")), ids=lambda path: path.name)
def test_the_sources_give_no_warnings(source: Path, tmp_path: Path) -> None:
    flags = ["-std=gnu11", "-O3", "-fPIC", "-Wall", "-Wextra", "-Werror"]
    done = compile_c(*flags, "-c", source, "-o", tmp_path / "compiled.o")
    assert done.returncode == 0, done.stderr


def test_every_operation_that_is_named_is_registered_and_no_other() -> None:
    registered = {name for name in dir(load_operations()) if name.startswith("tfw2v_")}
    assert {name for name in registered if not name.endswith("_eager_fallback")} == set(package.NAMES)


def test_operations_that_are_not_compiled_tell_how_to_compile_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(package, "library_path", lambda: tmp_path / "none.so")
    with pytest.raises(ImportError, match=r"none\.so.*python setup\.py build_ext --inplace"):
        load_operations.__wrapped__()


@needs_a_compiler
def test_operations_of_another_version_of_the_package_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = library_without_functions(tmp_path)
    monkeypatch.setattr(package, "library_path", lambda: library)
    with pytest.raises(ImportError, match=r"other\.so was compiled from another version of the package"):
        load_operations.__wrapped__()


def test_an_operation_that_tensorflow_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "NAMES", (*package.NAMES, "tfw2v_other", "tfw2v_third"))
    with pytest.raises(ImportError, match=rf"TensorFlow {load_tensorflow().__version__} .*: tfw2v_other\."):
        load_operations.__wrapped__()


def test_an_operation_that_tensorflow_has_refused_is_named_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def error() -> bytes:
        return b"Tfw2vTrainCbow: no kernels today"

    refused = SimpleNamespace(tfw2v_registration_error=error)
    monkeypatch.setattr(ctypes, "CDLL", lambda path: refused)
    with pytest.raises(ImportError, match=rf"{load_tensorflow().__version__} .*: Tfw2vTrainCbow: no kernels today"):
        load_operations.__wrapped__()


def test_operations_that_write_to_a_copy_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    copying = SimpleNamespace(
        tfw2v_add_rows=lambda **_: None, tfw2v_read_rows=lambda table, **_: load_tensorflow().identity(table)
    )
    monkeypatch.setattr(package, "load_operations", lambda: copying)
    with pytest.raises(ImportError, match="a copy of a variable instead of its memory"):
        operations.__wrapped__()


@pytest.mark.slow
def test_operations_may_be_loaded_first_while_a_graph_is_traced_for_another_device() -> None:
    done = run_script(
        "from gensim_tfw2v.runtime.tensorflow import load_tensorflow\n"
        "from gensim_tfw2v.operations import operations\n"
        "tf = load_tensorflow()\n"
        "def trace():\n"
        "    with tf.device('/job:worker/task:1/CPU:0'):\n"
        "        operations()\n"
        "    return tf.constant(1)\n"
        "graph = tf.function(trace, autograph=False).get_concrete_function().graph\n"
        "print([operation.type for operation in graph.get_operations()])\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "['Const', 'Identity']"


@pytest.mark.slow
def test_operations_may_be_loaded_where_nothing_runs_at_once() -> None:
    done = run_script(
        "import tensorflow as tf\n"
        "tf.compat.v1.disable_eager_execution()\n"
        "from gensim_tfw2v.operations import operations\n"
        "operations()\n"
        "print(len(tf.compat.v1.get_default_graph().get_operations()))\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "0"


@pytest.mark.slow
def test_registering_a_tasks_functions_leaves_devices_to_be_set_up_by_its_server() -> None:
    done = run_script(
        "import tensorflow as tf\n"
        "from gensim_tfw2v.placement.tasks.block_factory import BlockFactory\n"
        "from gensim_tfw2v.placement.server import register_functions\n"
        "register_functions()\n"
        "tf.config.threading.set_intra_op_parallelism_threads(3)\n"  # an error once devices have been set up
        "BlockFactory().details()\n"
        "from gensim_tfw2v.operations import operations\n"
        "print(operations.cache_info().misses)\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "1"


def test_a_task_that_cannot_move_rows_says_so_to_the_coordinator(monkeypatch: pytest.MonkeyPatch) -> None:
    from gensim_tfw2v.cluster import connection
    from gensim_tfw2v.placement.server import register_functions
    from gensim_tfw2v.placement.tasks import block_factory

    def refuse() -> None:
        raise ImportError("TensorFlow 3 gives operations a copy of a variable")

    monkeypatch.setattr(block_factory, "kernel", refuse)
    monkeypatch.setattr(connection, "device", lambda job, task: "/CPU:0")
    register_functions()
    found = connection.Connection(0, {"ps": ["a:1"], "worker": ["b:2"]}, None)
    with pytest.raises(ClusterError, match="worker 0 at b:2 cannot train: TensorFlow 3 gives operations a copy"):
        found.describe("worker", 0)
