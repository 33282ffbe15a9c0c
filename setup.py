"""Compiles the package's C functions and its operations for TensorFlow; everything else is said in pyproject.toml.

The libraries use TensorFlow's C interface and none of Python's. They have the same names for every Python, and a wheel
with them serves all Pythons of its platform.

The environment variable TFW2V_TARGET is set by `scripts/wheel`: the processor, x86_64 or aarch64, of a wheel that is
compiled with Zig for C libraries as old as glibc 2.17. Without it the libraries are for this machine.

The package works without the libraries, only slower. So where they cannot be compiled it is installed without them,
after a warning. With TFW2V_WITHOUT_OPERATIONS=1 nothing is compiled, and a wheel serves every platform.
"""

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

_PACKAGE = Path("gensim_tfw2v")
_TARGET = os.environ.get("TFW2V_TARGET")
_WITHOUT_LIBRARIES = os.environ.get("TFW2V_WITHOUT_OPERATIONS", "0") not in ("", "0")
_PROCESSOR = _TARGET or platform.machine()
_FLAGS = [
    *("-std=gnu11", "-O3", "-Wall"),
    *("-fno-math-errno", "-fno-trapping-math"),  # both are unused
    *("-fvisibility=hidden", "-fno-semantic-interposition"),  # a name such as `fail` may be in other libraries, too
]
# A loop that copies a short vector must not become a call of memcpy. This is a flag of GCC, which new versions of Zig
# refuse.
_FLAGS_OF_SOME = ["-fno-tree-loop-distribute-patterns"]
_LEVELS = ["baseline", "v3", "v4"] if _PROCESSOR == "x86_64" else ["baseline"]
_ZIG_CC = ["cc", "-target", f"{_PROCESSOR}-linux-gnu.2.17"]


def _compiler() -> str | None:
    """Return a C compiler of this machine, unless there is none or the libraries are for other machines as well."""
    if _TARGET:
        return None
    configured = (sysconfig.get_config_var("CC") or "cc").split()[0]
    return next(filter(None, map(shutil.which, (configured, "cc", "gcc", "clang"))), None)


def _accepted(compiler: list[str], flags: list[str]) -> list[str]:
    """Return those flags with which a compiler reads an empty file."""
    reads = [*compiler, "-E", "-x", "c", os.devnull]
    return [flag for flag in flags if subprocess.run([*reads, flag], capture_output=True).returncode == 0]


def _zig(folder: str) -> list[str]:
    """Return the compiler in Python's package of Zig, which is installed in a folder unless it is there already."""
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", *_ZIG_CC]
    # pip hides itself from builds, but not from a Python that ignores the variables that pip has set. An environment
    # without pip may have Python's own copy.
    bundled = importlib.util.find_spec("ensurepip")
    copies = Path(bundled.origin).parent.rglob("pip-*.whl") if bundled and bundled.origin else ()
    for pip in (["-I", "-m", "pip"], *([f"{wheel}/pip"] for wheel in copies)):
        options = ["install", "--quiet", "--disable-pip-version-check", "--retries", "1", "--target", folder]
        if subprocess.run([sys.executable, *pip, *options, "ziglang"], capture_output=True).returncode == 0:
            return [str(Path(folder) / "ziglang" / "zig"), *_ZIG_CC]
    raise RuntimeError("there is no C compiler, and the package ziglang, which has one, cannot be installed")


def _library(folder: str, name: str) -> Extension:
    """Return a library of all sources in a folder of the package."""
    return Extension(
        f"gensim_tfw2v.{folder}.{name}",
        sources=sorted(map(str, (_PACKAGE / folder).glob("*.c"))),
        depends=sorted(map(str, (_PACKAGE / folder).glob("*.h"))),
        extra_compile_args=[*_FLAGS],
        libraries=["m", "dl"],
    )


class BuildLibraries(build_ext):
    """Compiles with the machine's C compiler, or where there is none with the one in Python's package of Zig.

    If this fails, there are no libraries, unless they were asked for: by name, or for another machine.
    """

    def run(self) -> None:
        """Compile, or leave the libraries out after a warning."""
        try:
            super().run()
        except Exception as error:  # whatever it is, the package can be installed without libraries
            if _TARGET or "build_ext" in self.distribution.commands:
                raise
            for extension in self.extensions:
                Path(self.get_ext_fullpath(extension.name)).unlink(missing_ok=True)
            self.extensions = []
            print(
                f"WARNING: gensim_tfw2v is installed without its compiled operations: {error}. It works, but trains "
                "several times as slowly. Install a C compiler and then the package again to have them.",
                file=sys.stderr,
            )

    def get_ext_filename(self, fullname: str) -> str:
        """Return the path of a library, which setuptools would name after this Python."""
        return f"{Path(*fullname.split('.'))}.so"

    def build_extensions(self) -> None:
        """Compile with one compiler, each library of operations for its level of instructions."""
        if sys.platform != "linux":
            raise RuntimeError(f"they are for Linux, and this is {sys.platform}")
        with tempfile.TemporaryDirectory() as folder:
            found = _compiler()
            self._build_with([found] if found else _zig(folder), not found)

    def _build_with(self, compiler: list[str], is_zig: bool) -> None:
        stripped = ["-s"] if is_zig else []  # Zig adds information for debuggers unasked
        self.compiler.set_executables(compiler_so=[*compiler, "-fPIC"], linker_so=[*compiler, "-shared", *stripped])
        of_this = _accepted(compiler, _FLAGS_OF_SOME)
        for extension in self.extensions:
            extension.extra_compile_args += of_this
            level = extension.name.rpartition(".")[2]
            if level in _LEVELS[1:]:
                instructions = f"x86_64_{level}" if is_zig else f"x86-64-{level}"
                extension.extra_compile_args.append(f"-march={instructions}")
        super().build_extensions()


class WheelForAllPythons(bdist_wheel):
    """Makes a wheel for every Python on the platform of the libraries, or on every platform if there are none."""

    def get_tag(self) -> tuple[str, str, str]:
        """Return what the wheel's name says of Python, its binary interface and the platform."""
        if not self.distribution.get_command_obj("build_ext").extensions:
            return "py3", "none", "any"
        return "py3", "none", f"linux_{_TARGET}" if _TARGET else super().get_tag()[2]


_LIBRARIES = [_library("native", "compiled"), *(_library("operations", level) for level in _LEVELS)]
setup(
    ext_modules=[] if _WITHOUT_LIBRARIES else _LIBRARIES,
    cmdclass={"build_ext": BuildLibraries, "bdist_wheel": WheelForAllPythons},
    setup_requires=["ziglang"] if _TARGET and not _WITHOUT_LIBRARIES else [],
)
