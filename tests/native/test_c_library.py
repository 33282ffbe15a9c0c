"""The library of the C functions: loaded without TensorFlow and Python's lock, and refused if it does not fit."""

from __future__ import annotations

import functools
import logging
from pathlib import Path

import numpy as np
import pytest
from support.child_process import run_script
from support.compiler import compile_c, library_without_functions, needs_a_compiler

from gensim_tfw2v.native import functions
from gensim_tfw2v.native.functions import call

SOURCES = Path(functions.__file__).parent


def _number_words() -> int:
    ids = np.array([4, 2, 4], np.int32)
    return call("number_words", ids, 9, *np.zeros((2, 3), np.int32))


def test_functions_run_without_python_s_lock_and_without_tensorflow() -> None:
    done = run_script(
        "import ctypes, sys\n"
        "from gensim_tfw2v.native import functions\n"
        "functions._library()\n"
        "assert 'tensorflow' not in sys.modules\n"
        "assert all(not function._flags_ & ctypes._FUNCFLAG_PYTHONAPI for function in functions._library().values())"
    )
    assert done.returncode == 0, done.stderr


def test_functions_that_are_not_compiled_tell_how_to_compile_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(functions, "library_path", lambda: tmp_path / "none.so")
    with pytest.raises(ImportError, match=r"none\.so.*python setup\.py build_ext --inplace"):
        functions._library.__wrapped__()


def test_functions_that_are_not_compiled_run_in_numpy_after_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(functions, "library_path", lambda: tmp_path / "none.so")
    for cached in (functions._library, functions._library_if_compiled):
        monkeypatch.setattr(functions, cached.__name__, functools.cache(cached.__wrapped__))
    with caplog.at_level(logging.WARNING):
        assert [_number_words() for _ in range(2)] == [2, 2]
    (message,) = caplog.messages
    assert "none.so" in message and "NumPy makes blocks" in message


@needs_a_compiler
def test_functions_of_another_version_of_the_package_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = library_without_functions(tmp_path)
    monkeypatch.setattr(functions, "library_path", lambda: library)
    with pytest.raises(ImportError, match=r"other\.so was compiled from another version of the package"):
        functions._library.__wrapped__()


@pytest.mark.slow
@needs_a_compiler
@pytest.mark.parametrize("source", sorted(SOURCES.glob("*.c")), ids=lambda path: path.name)
def test_the_c_functions_give_no_warnings(source: Path, tmp_path: Path) -> None:
    flags = ["-std=gnu11", "-O3", "-fPIC", "-Wall", "-Wextra", "-Werror"]
    done = compile_c(*flags, "-c", source, "-o", tmp_path / "compiled.o")
    assert done.returncode == 0, done.stderr
