"""How the tests are organised: what the suite promises of itself."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import LONG_FILES, is_named

TESTS = Path(__file__).parent
MODULES = sorted(TESTS.rglob("*.py"))


@pytest.mark.parametrize("module", MODULES, ids=[path.stem for path in MODULES])
def test_no_module_imports_tests(module: Path) -> None:
    imported = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported.add(node.module)
    assert not {name for name in imported if name.startswith("test_")}


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
