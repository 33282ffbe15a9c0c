"""The tutorial notebook as it is in the repository, and what its cells print and show."""

from __future__ import annotations

import base64
import re
from typing import Any

import execute_notebook
import nbformat


def committed() -> Any:
    """Return the notebook as it is in the repository."""
    return nbformat.read(execute_notebook.NOTEBOOK, as_version=4)


def code_cells(notebook: Any) -> list[Any]:
    """Return a notebook's cells of code."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def texts(cells: list[Any]) -> list[str]:
    """Return the texts that cells print and show, in turn."""
    outputs = [output for cell in cells for output in cell.outputs]
    return [output.get("text") or output.get("data", {}).get("text/markdown", "") for output in outputs]


def shown(notebook: Any, cell_id: str) -> str:
    """Return the text that one cell prints and shows."""
    return "\n".join(texts([cell for cell in code_cells(notebook) if cell.id == cell_id]))


def rows(notebook: Any, cell_id: str) -> dict[str, list[str]]:
    """Return the rows of the tables that a cell shows, by their first entry."""
    lines = re.findall(r"^\| (.*) \|$", shown(notebook, cell_id), re.MULTILINE)
    return {name: entries for name, *entries in (line.split(" | ") for line in lines)}


def number(text: str, pattern: str) -> float:
    """Return the number in a text that a pattern's group finds."""
    found = re.search(pattern, text)
    assert found is not None, text
    return float(found[1])


def pictures(notebook: Any) -> list[bytes]:
    """Return the PNG files that a notebook shows."""
    data = (output.get("data", {}) for cell in code_cells(notebook) for output in cell.outputs)
    return [base64.b64decode(found["image/png"]) for found in data if "image/png" in found]
