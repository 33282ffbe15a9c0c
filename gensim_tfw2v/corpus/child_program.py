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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from gensim_tfw2v.runtime.processes import runs_python

# Ctrl-C reaches the whole process group, but whoever started the process ends it.
_PROGRAM = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    "sys.path[:] = {}; from {} import main; main(sys.argv[1:])"
)


def can_start() -> bool:
    """Return whether this process knows the program of its Python."""
    return runs_python(sys.executable or "")


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
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.input: IO[bytes] = self._process.stdin
        self.output: IO[bytes] = self._process.stdout

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def end(self) -> None:
        """Kill the process, and wait until it has ended; a thread that waits for its output finds the output's end."""
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


@contextlib.contextmanager
def output_to_parent() -> Iterator[IO[bytes]]:
    """Yield this process's standard output; end the process if nobody reads it any more."""
    try:
        yield sys.stdout.buffer
    except BrokenPipeError:
        os._exit(0)  # the interpreter must not try again to write at exit
