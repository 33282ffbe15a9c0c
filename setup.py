"""Compiles the package's operations for TensorFlow; everything else is said in pyproject.toml."""

import platform
import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

_SOURCES = Path("gensim_tfw2v", "operations")
# Nobody asks these operations for C's error numbers or floating-point exceptions.
_FLAGS = ["-std=gnu11", "-O3", "-fno-math-errno", "-fno-trapping-math", "-fno-semantic-interposition", "-Wall"]
_LEVELS = {"v3": ["-march=x86-64-v3"], "v4": ["-march=x86-64-v4"]} if platform.machine() == "x86_64" else {}


def _has_compiler() -> bool:
    configured = (sysconfig.get_config_var("CC") or "cc").split()[0]
    return any(shutil.which(name) for name in (configured, "cc", "gcc", "clang"))


class BuildOperations(build_ext):
    """Compiles with the machine's C compiler, or with the one that a package brings where there is none."""

    def build_extensions(self) -> None:
        configured = (sysconfig.get_config_var("CC") or "cc").split()[0]
        if not shutil.which(configured):
            other = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
            compiler = [other] if other else [sys.executable, "-m", "ziglang", "cc"]
            self.compiler.set_executables(
                compiler=compiler,
                compiler_so=[*compiler, "-fPIC"],
                linker_so=[*compiler, "-shared"],
            )
        super().build_extensions()


def _operations(level: str, flags: list[str]) -> Extension:
    return Extension(
        f"gensim_tfw2v.operations.{level}",
        sources=sorted(map(str, _SOURCES.glob("*.c"))),
        depends=sorted(map(str, _SOURCES.glob("*.h"))),
        extra_compile_args=[*_FLAGS, *flags],
        libraries=["m", "dl"],
    )


setup(
    ext_modules=[_operations(level, flags) for level, flags in {"baseline": [], **_LEVELS}.items()],
    cmdclass={"build_ext": BuildOperations},
    setup_requires=[] if _has_compiler() else ["ziglang"],
)
