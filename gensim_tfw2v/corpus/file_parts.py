"""A corpus file → its parts in order, tokenised by several processes at once.

The processes are started as separate programs. A fork of a process in which TensorFlow's threads run may deadlock, and
multiprocessing's other start methods need a main guard in every user's script.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path
from types import TracebackType

from gensim_tfw2v import tuning
from gensim_tfw2v.corpus.decompression import is_compressed
from gensim_tfw2v.corpus.reading_process import read_parts
from gensim_tfw2v.corpus.table_file import is_table
from gensim_tfw2v.corpus.tokenizer import Part

_PROGRAM = "import sys; sys.path[:] = {}; from gensim_tfw2v.corpus.reading_process import main; main(sys.argv[1:])"


def file_parts(
    path: str, workers: int, part_bytes: int, column: str | None = None
) -> Generator[tuple[int, Part], None, None]:
    """Yield the parts of a file in order, each with its reader. Parts of one reader use the same word numbers."""
    size = os.path.getsize(path)
    parts = -(-size // part_bytes)
    if is_compressed(path) or is_table(path):
        parts *= tuning.USUAL_COMPRESSION
        workers = min(workers, tuning.MOST_DECOMPRESSING_READERS)
    if workers <= 1 or parts <= tuning.SMALL_FILE_PARTS or not sys.executable:
        for part in read_parts(path, size, part_bytes, 0, 1, column):
            yield 0, part
    else:
        workers = min(workers, parts)
        with ExitStack() as stack:
            readers = [
                stack.enter_context(_ReadingProcess(path, size, part_bytes, first, workers, column))
                for first in range(workers)
            ]
            for number, reader in cycle(enumerate(readers)):
                # A process that is ahead waits until its pipe is emptied, which bounds memory.
                found = reader.next_part()
                if found is None:
                    return
                yield number, found


class _ReadingProcess:
    """A process that reads every ``step``-th part of a file, until the ``with`` block ends."""

    def __init__(self, path: str, size: int, part_bytes: int, first: int, step: int, column: str | None) -> None:
        self._path = path
        arguments = [path, *map(str, (size, part_bytes, first, step)), *([] if column is None else [column])]
        # Standard error goes to a file, because two pipes would have to be emptied in turns.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed in __exit__)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM.format(_import_path()), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            # The process computes no matrix products: threads for them would only take time to start.
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
        )

    def __enter__(self) -> _ReadingProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._process.wait()
        self._errors.close()

    def next_part(self) -> Part | None:
        """Return the process's next part, or None after its last; raise the error that ended the process."""
        assert self._process.stdout is not None
        try:
            message = pickle.load(self._process.stdout)
        except (EOFError, pickle.UnpicklingError):
            raise self._death() from None
        if isinstance(message, Exception):
            raise message
        assert message is None or isinstance(message, Part)
        return message

    def _death(self) -> RuntimeError:
        self._process.kill()  # it may have closed its output and still run
        code = self._process.wait()
        how = f"was ended by signal {-code}" if code < 0 else f"exited with code {code}"
        hint = " (a system out of memory sends 9)" if code == -9 else ""
        self._errors.seek(0)
        said = self._errors.read().decode("utf-8", "replace").strip() or "nothing"
        return RuntimeError(
            f"a process reading {self._path} {how}{hint}; its error output: {said}; "
            "train again, with workers=1 to read in this process"
        )


def _import_path() -> list[str]:
    """Return a module search path on which a new process finds this package and the same NumPy."""
    home = str(Path(__file__).resolve().parents[2])
    return sys.path if home in sys.path else [*sys.path, home]
