"""What scripts share: when the package is installed again."""

from __future__ import annotations

import subprocess
from pathlib import Path

from support.clone import ROOT

CHECKOUT = ("pyproject.toml", "setup.py", "gensim_tfw2v/native/functions.c", "gensim_tfw2v/operations/call.h")
COMPILED = "gensim_tfw2v/operations/v3.so"
SCRIPT = f"""
set -euo pipefail
source {ROOT}/scripts/common.sh
ROOT=$PWD VENV=$PWD
ensure_environment() {{ :; }}
pip() {{ echo installed; touch {COMPILED}; }}
"""


def installations(folder: Path, *between: str) -> int:
    """Return how often the package is installed in a checkout, where commands run between calls that want it."""
    for name in CHECKOUT:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    commands = [SCRIPT, *(f"install_package test\n{command}" for command in between), "install_package test"]
    done = subprocess.run(["bash", "-c", "\n".join(commands)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.count("installed")


def test_the_package_is_installed_once(tmp_path: Path) -> None:
    assert installations(tmp_path, "true", "true") == 1


def test_a_changed_source_is_installed_again(tmp_path: Path) -> None:
    assert installations(tmp_path, f"echo change >> {CHECKOUT[-1]}", "true") == 2


def test_removed_compiled_files_are_made_again(tmp_path: Path) -> None:
    assert installations(tmp_path, f"rm {COMPILED}", "true") == 2
