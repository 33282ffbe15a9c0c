"""Runs the tutorial notebook and keeps what its cells print and draw: `python scripts/execute_notebook.py`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = ROOT / "examples" / "one_class_classification.ipynb"


def executed() -> Any:
    """Return the notebook, executed afresh with this checkout's package."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    metadata = {name: dict(value) for name, value in notebook.metadata.items()}
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    client = NotebookClient(notebook, timeout=600, kernel_name="python3", record_timing=False)
    client.execute(env={**os.environ, "PYTHONPATH": paths})
    notebook.metadata.update(metadata)  # without the version of this Python
    return notebook


if __name__ == "__main__":
    nbformat.write(executed(), NOTEBOOK)
