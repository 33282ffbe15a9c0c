"""The package is built without compiled libraries where they are not wanted, or cannot be compiled."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support.clone import ROOT, copy_of_clone, in_a_clone

pytestmark = [pytest.mark.slow, in_a_clone]


def built(folder: Path, **environment: str) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """Return the wheel that is built of a copy of the checkout, and the output."""
    copy_of_clone(folder / "checkout")
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "bdist_wheel", "--dist-dir", str(folder)],
        cwd=folder / "checkout",
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel, done


def libraries_in(wheel: Path) -> list[str]:
    """Return the names of the compiled files of a wheel."""
    return [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".so")]


def test_a_wheel_without_operations_is_for_every_platform_and_compiles_nothing(tmp_path: Path) -> None:
    wheel, done = built(tmp_path, TFW2V_WITHOUT_OPERATIONS="1")
    assert wheel.name.endswith("-py3-none-any.whl")
    assert libraries_in(wheel) == []
    assert "WARNING" not in done.stderr


def test_without_a_compiler_and_an_index_one_warning_says_that_there_are_no_operations(tmp_path: Path) -> None:
    wheel, done = built(tmp_path, PATH=str(tmp_path / "none"), PIP_NO_INDEX="1", PIP_FIND_LINKS="")
    assert wheel.name.endswith("-py3-none-any.whl")
    assert libraries_in(wheel) == []
    assert done.stderr.count("WARNING: gensim_tfw2v is installed without its compiled operations") == 1
    assert "there is no C compiler" in done.stderr
    modules = {name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".py")}
    assert {f"{path.relative_to(ROOT)}" for path in (ROOT / "gensim_tfw2v").rglob("*.py")} <= modules


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="needs the package ziglang")
@pytest.mark.parametrize(("processor", "machine"), [("x86_64", 62), ("aarch64", 183)])
def test_zig_compiles_all_libraries_of_a_processor(processor: str, machine: int, tmp_path: Path) -> None:
    wheel, done = built(tmp_path, TFW2V_TARGET=processor)
    assert "WARNING" not in done.stderr
    libraries = libraries_in(wheel)
    levels = ["baseline", "v3", "v4"] if processor == "x86_64" else ["baseline"]
    assert {Path(name).stem for name in libraries} == {"compiled", *levels}
    for name in libraries:
        header = zipfile.ZipFile(wheel).read(name)[:20]
        assert int.from_bytes(header[18:20], "little") == machine  # the field e_machine of ELF


def test_libraries_that_are_asked_for_by_name_must_compile(tmp_path: Path) -> None:
    copy_of_clone(tmp_path / "checkout")
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext"],
        cwd=tmp_path / "checkout",
        env=os.environ | {"PATH": str(tmp_path / "none"), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode != 0
    assert "there is no C compiler" in done.stderr
