"""Checks what a release says and holds: `check_release.py versions`, and `check_release.py files FILE...`.

The first compares the version with CHANGELOG and CITATION, the second looks into wheels and source archives. Each
prints the problems that it finds, one a line.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "gensim_tfw2v"
LEVELS = {"x86_64": ("baseline", "v3", "v4"), "aarch64": ("baseline",)}
# auditwheel adds the older name of the same platform.
_TAG = re.compile(r"-py3-none-(?:manylinux2014_\w+\.)?manylinux_2_17_(x86_64|aarch64)(?:\.manylinux2014_\w+)?\.whl$")
_COMPILED_FROM_OR_TO = {".c", ".h", ".so", ".pyc"}
_PYTHON_FUNCTION = re.compile(rb"\0_?Py[A-Za-z]*_\w+\0")
_MADE_FOR_ARCHIVE = re.compile(r"PKG-INFO$|setup\.cfg$|[\w.]+\.egg-info/")


def version_problems(root: Path) -> Iterator[str]:
    """Yield where version, CHANGELOG and CITATION disagree.

    A release is the newest in CHANGELOG, with its date. A version under development is later than that, and CHANGELOG
    says what it changes.
    """
    version = _found(r'^__version__ = "(.*)"$', root / PACKAGE / "version.py")
    if version is None:
        yield "version.py has no version"
        return
    cited = _found(r"^version: (.*)$", root / "CITATION.cff")
    if cited != version:
        yield f"CITATION.cff has the version {cited} instead of {version}"
    released = _found(r"^date-released: (.*)$", root / "CITATION.cff")
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[(\d[^]]*)\](?: - (\d{4}-\d\d-\d\d))?$", changes, re.MULTILINE)
    if newest is None:
        yield "CHANGELOG.md has no section of a version"
    elif ".dev" not in version:
        if newest[1] != version or newest[2] is None:
            yield f"CHANGELOG.md does not begin with a section [{version}] that has a date"
        elif released != newest[2]:
            yield f"CITATION.cff has the date {released} instead of {newest[2]}"
    else:
        if _numbers(version) <= _numbers(newest[1]):
            yield f"{version} is not later than {newest[1]}, the newest version in CHANGELOG.md"
        if not re.search(r"^- ", changes[: newest.start()], re.MULTILINE):
            yield f"CHANGELOG.md does not say what {version} changes"
        if released is not None:
            yield f"CITATION.cff has a date, and {version} is not released"


def file_problems(file: Path, root: Path) -> Iterator[str]:
    """Yield what is wrong with a wheel or a source archive of the package in `root`."""
    yield from (wheel_problems if file.suffix == ".whl" else archive_problems)(file, root)


def wheel_problems(wheel: Path, root: Path) -> Iterator[str]:
    """Yield what is wrong with a wheel: its name, missing and foreign files, libraries that need a certain Python."""
    tag = _TAG.search(wheel.name)
    if tag is None:
        yield f"{wheel.name} is not for every Python and glibc 2.17"
        return
    libraries = {f"{PACKAGE}/operations/{level}.so" for level in LEVELS[tag[1]]} | {f"{PACKAGE}/native/compiled.so"}
    sources = {
        str(path.relative_to(root))
        for path in (root / PACKAGE).rglob("*")
        if path.is_file() and path.suffix not in _COMPILED_FROM_OR_TO
    }
    with zipfile.ZipFile(wheel) as files:
        names = {entry.filename for entry in files.infolist() if not entry.is_dir()}
        names = {name for name in names if ".dist-info/" not in name}
        yield from _differences(wheel, names, libraries | sources)
        for library in sorted(libraries & names):
            # Names of symbols stand between zeros.
            if function := _PYTHON_FUNCTION.search(files.read(library)):
                yield f"{library} in {wheel.name} needs Python's {function[0].strip(bytes(1)).decode()}"


def archive_problems(archive: Path, root: Path) -> Iterator[str]:
    """Yield what is wrong with a source archive: it holds exactly the files that git keeps."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
    with tarfile.open(archive) as files:
        names = {name.partition("/")[2] for name in files.getnames() if files.getmember(name).isfile()}
    made = {name for name in names if _MADE_FOR_ARCHIVE.match(name)}
    yield from _differences(archive, names - made, set(filter(None, listed.split("\0"))))


def _differences(file: Path, names: set[str], expected: set[str]) -> Iterator[str]:
    yield from (f"{file.name} lacks {name}" for name in sorted(expected - names))
    yield from (f"{file.name} should not hold {name}" for name in sorted(names - expected))


def _found(pattern: str, file: Path) -> str | None:
    """Return what a pattern finds in a file, if it does."""
    found = re.search(pattern, file.read_text(encoding="utf-8"), re.MULTILINE)
    return found and found[1]


def _numbers(version: str) -> list[int]:
    """Return the numbers of a version without what marks it as one under development."""
    return [int(number) for number in version.partition(".dev")[0].split(".")]


def main(arguments: list[str]) -> int:
    """Run one of the checks and print its problems; return 1 if there are any."""
    match arguments:
        case ["versions"]:
            problems = [*version_problems(ROOT)]
        case ["files", *files]:
            problems = [problem for file in files for problem in file_problems(Path(file), ROOT)]
        case _:
            sys.exit(__doc__)
    print(*problems, sep="\n", end="\n" if problems else "")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
