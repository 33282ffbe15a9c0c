"""The tutorial notebook's first cell installs what the notebook needs, and nothing where all of it is there."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from execute_notebook import ROOT
from IPython.core.inputtransformer2 import TransformerManager
from support.notebook_parts import code_cells, committed


class Shell:
    """IPython as far as the install cell needs it: keeps the magic commands that it runs."""

    def __init__(self) -> None:
        self.commands: list[str] = []
        self.variables: dict[str, Any] = {"get_ipython": lambda: self}

    def run_line_magic(self, name: str, line: str) -> None:
        self.commands.append(f"%{name} {line.format(**self.variables)}")

    def run(self, source: str) -> list[str]:
        """Run a cell; return its magic commands."""
        exec(TransformerManager().transform_cell(source), self.variables)
        return self.commands


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Return a function that runs the install cell and returns its commands."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    source = next(cell.source for cell in code_cells(committed()) if cell.id == "install")
    return lambda: Shell().run(source)


def test_the_install_cell_does_nothing_where_everything_is_installed(install: Callable[[], list[str]]) -> None:
    assert install() == []


@pytest.mark.parametrize("folder", [ROOT, ROOT / "examples"], ids=["root", "examples"])
@pytest.mark.parametrize("missing", ["gensim_tfw2v", "gensim_tfw2v.operations.baseline", "sklearn"])
def test_the_install_cell_installs_the_clone_that_it_is_in(
    folder: Path, missing: str, install: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else find_spec(name))
    monkeypatch.chdir(folder)
    assert install() == [f'%pip install --quiet --editable "{ROOT}[notebook]"']
    assert sys.path[0] == str(ROOT)


def test_outside_of_a_clone_the_install_cell_says_what_to_do(
    install: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match="clone the repository first"):
        install()


def test_the_package_has_the_extra_that_the_install_cell_names() -> None:
    extras = (ROOT / "pyproject.toml").read_text(encoding="utf8").partition("[project.optional-dependencies]")[2]
    found = re.search(r"^notebook = \[(.*?)\]", extras, re.MULTILINE | re.DOTALL)
    assert found is not None
    assert {"scikit-learn", "matplotlib"} <= set(re.findall(r'"([\w-]+)"', found[1]))
