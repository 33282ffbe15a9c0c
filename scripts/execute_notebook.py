"""Executes the tutorial notebook and saves the output of its cells: `python scripts/execute_notebook.py`."""

from __future__ import annotations

import copy
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = ROOT / "examples" / "one_class_classification.ipynb"
_WIDGET = "application/vnd.jupyter.widget-view+json"


def executed(expressions: Sequence[str] = ()) -> tuple[Any, dict[str, Any]]:
    """Return the notebook, executed with the package of this checkout, and the values of expressions at its end.

    It runs in its own folder, as in Jupyter. JSON must be able to hold the values.
    """
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    metadata = copy.deepcopy(notebook.metadata)
    with tempfile.TemporaryDirectory() as folder:
        values = Path(folder) / "values.json"
        notebook.cells.append(nbformat.v4.new_code_cell(_written(expressions, values)))
        NotebookClient(
            notebook,
            timeout=600,
            kernel_name="python3",
            record_timing=False,
            store_widget_state=False,
            coalesce_streams=True,  # keeps only the last state of a progress bar
            resources={"metadata": {"path": str(NOTEBOOK.parent)}},
        ).execute(env=_environment())
        found: dict[str, Any] = json.loads(values.read_text(encoding="utf-8"))
    notebook.cells.pop()
    notebook.metadata = metadata  # removes the version of this Python
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if _WIDGET not in output.get("data", {})]
    return notebook, found


def _written(expressions: Sequence[str], path: Path) -> str:
    """Return the code of a cell that writes the values of expressions to a file."""
    pairs = ", ".join(f"{expression!r}: {expression}" for expression in expressions)
    return f"import json\nPath({str(path)!r}).write_text(json.dumps({{{pairs}}}), encoding='utf-8')"


def _environment() -> dict[str, str]:
    """Return the environment of the notebook's process."""
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    # Without ipywidgets tqdm draws text, which is what the saved notebook should show, and warns.
    return {**os.environ, "PYTHONPATH": paths, "PYTHONWARNINGS": "ignore:IProgress not found"}


if __name__ == "__main__":
    nbformat.write(executed()[0], NOTEBOOK)
