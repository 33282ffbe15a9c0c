"""A Python process of our own that runs one module of this package, without TensorFlow, and how it ended.

It is started as a separate program. A fork of a process in which TensorFlow's threads run may deadlock, and
multiprocessing's other start methods need a main guard in every user's script.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

_PROGRAM = "import sys; sys.path[:] = {}; from {} import main; main(sys.argv[1:])"


def can_start() -> bool:
    """Return whether this process knows the program of its Python."""
    return bool(sys.executable)


class ChildProgram:
    """A running process.

    Parameters
    ----------
    module : str
        The module, whose function `main` gets the arguments.
    arguments : sequence of str
        The arguments.
    """

    def __init__(self, module: str, arguments: Sequence[str] = ()) -> None:
        # Standard error goes to a file, because two pipes would have to be emptied in turns.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed in `end`)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM.format(import_path(), module), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            # The process computes no matrix products: threads for them would only take time to start.
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
        )

    @property
    def input(self) -> IO[bytes]:
        """Its standard input."""
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def output(self) -> IO[bytes]:
        """Its standard output."""
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def kill(self) -> None:
        """Kill the process; a thread that waits for its output finds the output at its end."""
        self._process.kill()

    def end(self) -> None:
        """Kill the process, and wait until it has ended."""
        self._process.kill()
        self.output.close()
        with contextlib.suppress(BrokenPipeError):  # something was still to be written
            self.input.close()
        self._process.wait()
        self._errors.close()

    def how_it_ended(self) -> str:
        """End the process; return its exit code or signal, and what it wrote to its standard error."""
        self._process.kill()  # it may have closed its output and still run
        code = self._process.wait()
        how = f"was ended by signal {-code}" if code < 0 else f"exited with code {code}"
        hint = " (a system out of memory sends 9)" if code == -9 else ""
        self._errors.seek(0)
        said = self._errors.read().decode("utf-8", "replace").strip() or "nothing"
        return f"{how}{hint}; its error output: {said}"


def import_path() -> list[str]:
    """Return a module search path on which a new process finds this package and the same NumPy."""
    home = str(Path(__file__).resolve().parents[2])
    return sys.path if home in sys.path else [*sys.path, home]
