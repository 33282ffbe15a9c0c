"""A release says one version everywhere, and its files hold what they should."""

from __future__ import annotations

import platform
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import check_release
import pytest
from support.clone import copy_of_clone, in_a_clone
from support.compiler import needs_a_compiler

import gensim_tfw2v

ROOT = Path(check_release.ROOT)
LIBRARIES = ("native/compiled", *(f"operations/{level}" for level in ("baseline", "v3", "v4")))
WHEEL = "gensim_tfw2v-1.2.3-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"

Checkout = Callable[[str, str, str], Path]  # makes a folder from a version, what is cited, and what has changed
Wheel = Callable[[str, dict[str, bytes]], Path]  # makes a wheel from its name and files
NEXT = "1.2.3.dev0"
DATE = "date-released: 2030-01-02"
CHANGED = "## [Unreleased]\n\n- Something.\n\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """Return a function that makes what a checkout says of a version, and returns its folder."""

    def make(version: str, cited: str, changes: str) -> Path:
        (tmp_path / "gensim_tfw2v").mkdir()
        (tmp_path / "gensim_tfw2v" / "version.py").write_text(f'__version__ = "{version}"\n')
        (tmp_path / "CITATION.cff").write_text(f"title: gensim-tfw2v\nversion: {cited}\n")
        (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{changes}")
        return tmp_path

    return make


# -- versions ------------------------------------------------------------------------------------------------------


def test_version_changelog_and_citation_of_this_checkout_agree() -> None:
    assert [*check_release.version_problems(ROOT)] == []


@pytest.mark.parametrize(
    ("version", "cited", "changes"),
    [
        ("1.2.3", f"1.2.3\n{DATE}", "## [1.2.3] - 2030-01-02\n\n- Something.\n\n## [1.2.2]\n"),
        ("1.2.10.dev0", "1.2.10.dev0", f"{CHANGED}## [1.2.9] - 2030-01-02\n"),
    ],
    ids=["released", "under development"],
)
def test_a_checkout_that_agrees_with_itself_has_no_problem(
    version: str, cited: str, changes: str, checkout: Checkout
) -> None:
    assert [*check_release.version_problems(checkout(version, cited, changes))] == []


@pytest.mark.parametrize(
    ("version", "cited", "changes", "problem"),
    [
        (NEXT, "1.2.2", f"{CHANGED}## [1.2.2]\n", f"CITATION.cff has the version 1.2.2 instead of {NEXT}"),
        (NEXT, NEXT, f"{CHANGED}## [1.2.3]\n", f"{NEXT} is not later than 1.2.3, the newest version"),
        (NEXT, NEXT, "## [Unreleased]\n\n## [1.2.2]\n\n- Old.\n", f"does not say what {NEXT} changes"),
        (NEXT, f"{NEXT}\n{DATE}", f"{CHANGED}## [1.2.2]\n", f"{NEXT} is not released"),
        ("1.2.3", f"1.2.3\n{DATE}", "## [1.2.3]\n", "does not begin with a section [1.2.3] that has a date"),
        ("1.2.3", f"1.2.3\n{DATE}", "## [1.2.2] - 2030-01-02\n", "does not begin with a section [1.2.3]"),
        ("1.2.3", "1.2.3", "## [1.2.3] - 2030-01-02\n", "the date None instead of 2030-01-02"),
        ("1.2.3", "1.2.3", "", "no section of a version"),
    ],
    ids=["cited", "not later", "no changes", "dated", "no date", "not in the changelog", "not dated", "no changelog"],
)
def test_what_disagrees_is_named(version: str, cited: str, changes: str, problem: str, checkout: Checkout) -> None:
    (found,) = check_release.version_problems(checkout(version, cited, changes))
    assert problem in found


def test_the_command_prints_problems_and_fails(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check_release, "ROOT", checkout(NEXT, "1.2.2", f"{CHANGED}## [1.2.2]\n"))
    assert check_release.main(["versions"]) == 1
    assert capsys.readouterr().out == f"CITATION.cff has the version 1.2.2 instead of {NEXT}\n"


# -- files ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def wheel(checkout: Checkout) -> Wheel:
    """Return a function that makes a wheel of a module, all libraries and other files, and returns its path."""
    folder = checkout("1.2.3", "1.2.3", "")

    def make(name: str, others: dict[str, bytes]) -> Path:
        contents = {"gensim_tfw2v/version.py": b"", "gensim_tfw2v-1.2.3.dist-info/METADATA": b""}
        contents |= {f"gensim_tfw2v/{library}.so": b"\0malloc\0TF_NewKernelBuilder\0" for library in LIBRARIES}
        with zipfile.ZipFile(folder / name, "w") as files:
            files.writestr("gensim_tfw2v/", "")
            for path, content in (contents | others).items():
                files.writestr(path, content)
        return folder / name

    return make


@pytest.mark.parametrize("name", [WHEEL, WHEEL.replace("manylinux2014_x86_64.", "")])
def test_a_wheel_with_modules_and_libraries_has_no_problem(name: str, wheel: Wheel) -> None:
    path = wheel(name, {})
    assert [*check_release.file_problems(path, path.parent)] == []


@pytest.mark.parametrize(
    "tag", ["py3-none-linux_x86_64", "py3-none-manylinux_2_28_x86_64", "cp311-cp311-manylinux_2_17_x86_64"]
)
def test_a_wheel_for_fewer_machines_or_pythons_is_named(tag: str, wheel: Wheel) -> None:
    path = wheel(f"gensim_tfw2v-1.2.3-{tag}.whl", {})
    assert [*check_release.file_problems(path, path.parent)] == [f"{path.name} is not for every Python and glibc 2.17"]


@pytest.mark.parametrize("name", ["gensim_tfw2v/operations/rows.c", "tests/conftest.py"])
def test_a_file_that_does_not_belong_in_a_wheel_is_named(name: str, wheel: Wheel) -> None:
    path = wheel(WHEEL, {name: b""})
    assert [*check_release.file_problems(path, path.parent)] == [f"{WHEEL} should not hold {name}"]


def test_a_module_that_a_wheel_lacks_is_named(wheel: Wheel) -> None:
    path = wheel(WHEEL, {})
    (path.parent / "gensim_tfw2v" / "word2vec.py").touch()
    assert [*check_release.file_problems(path, path.parent)] == [f"{WHEEL} lacks gensim_tfw2v/word2vec.py"]


def test_a_wheel_for_arm_has_one_library_of_operations(wheel: Wheel) -> None:
    path = wheel(WHEEL.replace("x86_64", "aarch64"), {})
    found = [*check_release.file_problems(path, path.parent)]
    assert found == [f"{path.name} should not hold gensim_tfw2v/operations/{level}.so" for level in ("v3", "v4")]


def test_a_library_that_needs_pythons_own_functions_is_named(wheel: Wheel) -> None:
    path = wheel(WHEEL, {"gensim_tfw2v/native/compiled.so": b"\0malloc\0PyList_New\0"})
    (found,) = check_release.file_problems(path, path.parent)
    assert found == f"gensim_tfw2v/native/compiled.so in {WHEEL} needs Python's PyList_New"


def test_files_that_a_source_archive_lacks_or_should_not_hold_are_named(tmp_path: Path) -> None:
    for name in ("setup.py", "README.md", "notes.txt"):
        (tmp_path / name).touch()
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    subprocess.run(["git", "-C", tmp_path, "add", "setup.py", "README.md"], check=True)
    archive = tmp_path / "gensim_tfw2v-1.2.3.tar.gz"
    with tarfile.open(archive, "w:gz") as files:
        for name in ("setup.py", "notes.txt"):
            files.add(tmp_path / name, f"gensim_tfw2v-1.2.3/{name}")
    assert [*check_release.file_problems(archive, tmp_path)] == [
        f"{archive.name} lacks README.md",
        f"{archive.name} should not hold notes.txt",
    ]


# -- builds --------------------------------------------------------------------------------------------------------


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a folder with a copy of the files that git lists."""
    return copy_of_clone(tmp_path / "source")


def build(kind: str, source: Path, folder: Path) -> Path:
    """Build a wheel or an sdist as pip does, with this environment's setuptools, and return its path."""
    program = f"import setuptools.build_meta as backend; print(backend.build_{kind}({str(folder)!r}))"
    done = subprocess.run([sys.executable, "-c", program], cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.splitlines()[-1]


@in_a_clone
def test_the_source_archive_holds_all_files_that_git_lists(source: Path, tmp_path: Path) -> None:
    assert [*check_release.file_problems(build("sdist", source, tmp_path), ROOT)] == []


@pytest.mark.slow
@in_a_clone
@needs_a_compiler
@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors have fewer libraries")
def test_a_wheel_that_is_built_here_is_for_every_python_and_has_what_it_needs(source: Path, tmp_path: Path) -> None:
    built = build("wheel", source, tmp_path)
    assert built.name == f"gensim_tfw2v-{gensim_tfw2v.__version__}-py3-none-linux_x86_64.whl"
    checked = built.rename(tmp_path / WHEEL)
    assert [*check_release.file_problems(checked, source)] == []


@in_a_clone
def test_pip_refuses_a_python_that_is_too_new_in_one_line_before_it_builds(source: Path, tmp_path: Path) -> None:
    # What pip installs is for the Python that runs it; what it downloads may be for another one.
    arguments = ["--no-deps", "--no-index", "--no-build-isolation", "--python-version", "3.14", "--dest", tmp_path]
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", *arguments, source]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "ERROR: Package 'gensim-tfw2v' requires a different Python: 3.14.0 not in '<3.14,>=3.10'\n"
    assert [*source.rglob("*.so")] == []
