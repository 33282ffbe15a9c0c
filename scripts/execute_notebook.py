"""Executes the tutorial notebook and saves the output of its cells: `python scripts/execute_notebook.py`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = ROOT / "examples" / "one_class_classification.ipynb"


def executed() -> Any:
    """Return the notebook, newly executed with the package of this checkout."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    metadata = {name: dict(value) for name, value in notebook.metadata.items()}
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    client = NotebookClient(notebook, timeout=600, kernel_name="python3", record_timing=False)
    client.execute(env={**os.environ, "PYTHONPATH": paths})
    notebook.metadata.update(metadata)  # not those of this Python
    return notebook


if __name__ == "__main__":
    nbformat.write(executed(), NOTEBOOK)
