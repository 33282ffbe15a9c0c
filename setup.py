"""Compiles the package's C functions and its operations for TensorFlow; everything else is said in pyproject.toml."""

import platform
import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

_PACKAGE = Path("gensim_tfw2v")
# errno and floating-point traps are unused.
_FLAGS = ["-std=gnu11", "-O3", "-fno-math-errno", "-fno-trapping-math", "-fno-semantic-interposition", "-Wall"]
_LEVELS = ["baseline", "v3", "v4"] if platform.machine() == "x86_64" else ["baseline"]
_ZIG = [sys.executable, "-m", "ziglang", "cc", "-target", f"{platform.machine()}-linux-gnu.2.17"]


def _compiler() -> str | None:
    """Return a C compiler of this machine, if there is one."""
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

    def build_extensions(self) -> None:
        found = _compiler()
        compiler = [found] if found else _ZIG
        self.compiler.set_executables(compiler_so=[*compiler, "-fPIC"], linker_so=[*compiler, "-shared"])
        for extension in self.extensions:
            level = extension.name.rpartition(".")[2]
            if level in _LEVELS[1:]:
                instructions = f"x86-64-{level}" if found else f"x86_64_{level}"
                extension.extra_compile_args.append(f"-march={instructions}")
        super().build_extensions()


setup(
    ext_modules=[_library("native", "compiled"), *(_library("operations", level) for level in _LEVELS)],
    cmdclass={"build_ext": BuildLibraries},
    setup_requires=[] if _compiler() else ["ziglang"],
)
