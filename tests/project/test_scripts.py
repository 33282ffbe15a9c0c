"""What scripts say, in one line, where they cannot do what they are for; the tests they name; when they install."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gensim_tfw2v

SCRIPTS = Path(__file__).parents[2] / "scripts"
PROGRAMS = ("bash", "basename", "cat", "cksum", "dirname", "env", "ls", "mktemp", "nproc", "rm", "sed", "uname")


@pytest.fixture
def later_python(tmp_path: Path) -> Path:
    """Return a folder whose python3 says that it is Python 3.14, and with programs that scripts use."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for program in PROGRAMS:
        found = shutil.which(program)
        assert found is not None
        (folder / program).symlink_to(found)
    program = "import sys; sys.version_info = (3, 14, 0, 'final', 0); exec(sys.argv[2])"
    python = folder / "python3"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{program}" "$@"\n')
    python.chmod(0o755)
    return folder


def message_of(script: str, *arguments: str, **variables: str | Path) -> str:
    """Run a script that fails, and return what it says."""
    environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
    command = [str(SCRIPTS / script), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr


@pytest.mark.parametrize("script", ["demo", "test", "release"])
def test_where_every_python_is_too_new_nothing_is_made(script: str, later_python: Path, tmp_path: Path) -> None:
    environment, home = tmp_path / "environment", tmp_path / "home"
    arguments = {"release": ["versions"], "test": ["--no-browser", "tests"]}.get(script, [])
    variables = {"TFW2V_VENV": environment, "TFW2V_DEMO_DIR": tmp_path, "PYENV_ROOT": home, "TFW2V_PYTHON": ""}
    message = message_of(script, *arguments, PATH=later_python, **variables)
    assert message.startswith(f"{script}: error: no Python of version 3.10 to 3.13 found; install one, or name it")
    assert message.count("\n") == 1
    assert not environment.exists()


def test_a_python_that_is_too_new_is_named(later_python: Path, tmp_path: Path) -> None:
    python = later_python / "python3"
    message = message_of("demo", TFW2V_PYTHON=python, TFW2V_VENV=tmp_path / "environment", TFW2V_DEMO_DIR=tmp_path)
    assert message == f"demo: error: TFW2V_PYTHON={python} is not a Python of version 3.10 to 3.13\n"


def test_a_wheel_that_is_not_there_is_named(tmp_path: Path) -> None:
    message = message_of("demo", TFW2V_WHEEL="none.whl", TFW2V_VENV=tmp_path / "environment", TFW2V_DEMO_DIR=tmp_path)
    assert message == "demo: error: TFW2V_WHEEL=none.whl is not a file\n"


def test_a_wheel_for_an_unknown_processor_is_refused(tmp_path: Path) -> None:
    message = message_of("wheel", "x86_64", "sparc", TFW2V_DIST=tmp_path)
    assert message == "wheel: error: neither x86_64 nor aarch64: sparc\n"


def test_a_step_of_a_release_that_there_is_not_is_refused_before_any_other() -> None:
    message = message_of("release", "versions", "publish")
    assert message.startswith("release: error: 'publish' is none of the steps: versions build files oldest newest")


def test_a_number_of_nodes_that_slurm_is_not_tried_with_is_refused() -> None:
    assert message_of("try-slurm", "3") == "try-slurm: error: '3' is not a number of nodes, 1 or 2\n"


@pytest.mark.parametrize("step", ["files", "oldest", "newest", "refusal", "archive"])
def test_a_release_that_is_not_built_yet_cannot_be_checked(step: str, tmp_path: Path) -> None:
    (tmp_path / f"gensim_tfw2v-{gensim_tfw2v.__version__}.tar.gz").touch()  # and no wheel
    message = message_of("release", step, TFW2V_DIST=tmp_path)
    assert message == f"release: error: this version is not in {tmp_path} yet: run scripts/release build first\n"


def test_without_a_server_of_postgresql_or_its_pgvector_the_check_says_what_to_name(tmp_path: Path) -> None:
    message = message_of("check-pgvector", TFW2V_POSTGRES=tmp_path)
    assert message.startswith("check-pgvector: error: no server of PostgreSQL found. Install one, or name its programs")
    for program, says in (("initdb", ""), ("pg_config", f"echo {tmp_path}")):
        (tmp_path / program).write_text(f"#!/bin/sh\n{says}\n")
        (tmp_path / program).chmod(0o755)
    message = message_of("check-pgvector", TFW2V_POSTGRES=tmp_path)
    assert message.startswith(f"check-pgvector: error: PostgreSQL in {tmp_path} has no pgvector")


@pytest.mark.parametrize("script", ["sanitize", "test-versions"])
def test_every_test_that_a_script_names_is_there(script: str) -> None:
    names = re.findall(r"tests/[\w/{},*]+(?:\.py)?", (SCRIPTS / script).read_text())
    # Bash expands the names, and refuses a pattern that no file has.
    expand = "shopt -s failglob; ls -d -- " + " ".join(names)
    done = subprocess.run(["bash", "-c", expand], cwd=SCRIPTS.parent, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) > 5


# -- what they install -------------------------------------------------------------------------------------------------

SOURCES = ("pyproject.toml", "setup.py", "gensim_tfw2v/native/functions.c", "gensim_tfw2v/operations/call.h")
COMPILED = "gensim_tfw2v/operations/v3.so"
STAND_INS = f"""
set -euo pipefail
source {SCRIPTS}/common.sh
ROOT=$PWD VENV=$PWD
ensure_environment() {{ :; }}
pip() {{ echo installed; touch {COMPILED}; }}
"""


@pytest.mark.parametrize(
    ("between", "installations"), [("true", 1), (f"echo change >> {SOURCES[-1]}", 2), (f"rm {COMPILED}", 2)]
)
def test_the_package_is_installed_again_where_a_source_changed_or_a_compiled_file_was_removed(
    between: str, installations: int, tmp_path: Path
) -> None:
    for name in SOURCES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    commands = [STAND_INS, "install_package test", between, "install_package test", "install_package test"]
    done = subprocess.run(["bash", "-c", "\n".join(commands)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("installed") == installations
