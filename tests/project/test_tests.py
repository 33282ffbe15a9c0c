"""How the tests are organised: what the suite promises of itself."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import LONG_FILES, is_named

TESTS = Path(__file__).parents[1]
MODULES = sorted(TESTS.rglob("*.py"))


def imported_by(module: Path) -> set[str]:
    """Return the names of all modules that a module imports, wherever in it."""
    imported = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported.add(node.module)
    return imported


def test_no_module_imports_tests() -> None:
    imports = [(module, name) for module in MODULES for name in sorted(imported_by(module))]
    found = [f"{module} imports {name}" for module, name in imports if name.rpartition(".")[2].startswith("test_")]
    assert not found, "\n".join(found)


def test_each_file_of_tests_has_a_name_of_its_own() -> None:
    """pytest imports a file of tests by its name alone."""
    names = Counter(module.name for module in MODULES if module.name.startswith("test_"))
    shared = [name for name, files in names.items() if files > 1]
    assert not shared, ", ".join(shared)


def test_a_folder_of_tests_holds_nothing_but_tests() -> None:
    """Its path is among Python's, so that a module in it could hide another one; `support` has what tests share."""
    elsewhere = {"conftest.py", "support", "fuzzing"}
    in_folders = [module.relative_to(TESTS) for module in MODULES]
    found = [str(path) for path in in_folders if path.parts[0] not in elsewhere and not path.name.startswith("test_")]
    assert not found, ", ".join(found)


def test_calls_in_tests_and_benchmarks_name_arguments_that_are_there() -> None:
    """Most calls in slow tests run with --all alone, long after somebody has changed a signature."""
    options = ["--ignore-missing-imports", "--no-error-summary", "--cache-dir=.mypy_cache/tests", "--config-file="]
    command = [sys.executable, "-m", "mypy", *options, "tests", "benchmarks"]
    done = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    # What a star unpacks counts as too many arguments, whatever its length.
    lines = [line for line in done.stdout.splitlines() if "[call-arg]" in line and "Too many arguments" not in line]
    assert not lines, "\n".join(lines)


def test_files_that_take_long_are_there() -> None:
    assert set(LONG_FILES) <= {path.name for path in MODULES}


@pytest.mark.parametrize(
    ("argument", "named"),
    [
        ("tests/test_a.py::test_b", True),
        ("test_a.py::test_b[one/two]", True),
        ("/somewhere/tests/test_a.py::test_b", True),
        ("tests/test_a.py", False),
        ("tests/test_c.py::test_b", False),
        ("tests/test_a.py::test_c", False),
        ("tests", False),
    ],
)
def test_a_slow_test_runs_where_the_command_names_it(argument: str, named: bool) -> None:
    item: Any = SimpleNamespace(nodeid="tests/test_a.py::test_b[one/two]")
    assert is_named(item, ["-x", argument]) == named
