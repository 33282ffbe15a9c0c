"""Compiles the package's C functions and its operations for TensorFlow; everything else is said in pyproject.toml.

The libraries use TensorFlow's C interface and none of Python's. They have the same names for every Python, and a wheel
with them serves all Pythons of its platform.

The environment variable TFW2V_TARGET is set by `scripts/wheel`: the processor, x86_64 or aarch64, of a wheel that is
compiled with Zig for C libraries as old as glibc 2.17. Without it the libraries are for this machine.
"""

import os
import platform
import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

_PACKAGE = Path("gensim_tfw2v")
_TARGET = os.environ.get("TFW2V_TARGET")
_PROCESSOR = _TARGET or platform.machine()
# errno and floating-point traps are unused.
_FLAGS = ["-std=gnu11", "-O3", "-fno-math-errno", "-fno-trapping-math", "-fno-semantic-interposition", "-Wall"]
_LEVELS = ["baseline", "v3", "v4"] if _PROCESSOR == "x86_64" else ["baseline"]
_ZIG = [sys.executable, "-m", "ziglang", "cc", "-target", f"{_PROCESSOR}-linux-gnu.2.17"]


def _compiler() -> str | None:
    """Return a C compiler of this machine, unless there is none or the libraries are for other machines as well."""
    if _TARGET:
        return None
    configured = (sysconfig.get_config_var("CC") or "cc").split()[0]
    return next(filter(None, map(shutil.which, (configured, "cc", "gcc", "clang"))), None)


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
    """Compiles with the machine's C compiler, or where there is none with the one in Python's package of Zig."""

    def get_ext_filename(self, fullname: str) -> str:
        """Return the path of a library, which setuptools would name after this Python."""
        return f"{Path(*fullname.split('.'))}.so"

    def build_extensions(self) -> None:
        """Compile with one compiler, each library of operations for its level of instructions."""
        found = _compiler()
        compiler = [found] if found else _ZIG
        stripped = [] if found else ["-s"]  # Zig adds information for debuggers unasked
        self.compiler.set_executables(compiler_so=[*compiler, "-fPIC"], linker_so=[*compiler, "-shared", *stripped])
        for extension in self.extensions:
            level = extension.name.rpartition(".")[2]
            if level in _LEVELS[1:]:
                instructions = f"x86-64-{level}" if found else f"x86_64_{level}"
                extension.extra_compile_args.append(f"-march={instructions}")
        super().build_extensions()


class WheelForAllPythons(bdist_wheel):
    """Makes a wheel for every Python on the platform of the libraries."""

    def get_tag(self) -> tuple[str, str, str]:
        """Return what the wheel's name says of Python, its binary interface and the platform."""
        return "py3", "none", f"linux_{_TARGET}" if _TARGET else super().get_tag()[2]


setup(
    ext_modules=[_library("native", "compiled"), *(_library("operations", level) for level in _LEVELS)],
    cmdclass={"build_ext": BuildLibraries, "bdist_wheel": WheelForAllPythons},
    setup_requires=[] if _compiler() else ["ziglang"],
)
