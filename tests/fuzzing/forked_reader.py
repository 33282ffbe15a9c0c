"""Reads model files in forks of one process, which have little memory and time: whatever reading does, the fork ends.

`python forked_reader.py` answers every line on standard input, the name of a reader and a path, with one line of JSON:
the outcome and a message.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from support.child_process import environment

_MEMORY_BYTES = 2**32  # of address space
_FILE_BYTES = 2**24
_SECONDS = 20
_SAFE_MEMORY_BYTES = 20 * 2**20  # that opening a small file safely may take
_EXIT, _RAN_CODE = 10, 11  # of a fork that ended by itself, and of one in which a file's code was about to run


def outcome(path: Path, reader: str = "model") -> tuple[str, str]:
    """Return what becomes of reading a file: "read", "refused", "raised", "ended" or "signal", with a message.

    The reader is "model", or "safe" for files of unknown origin.
    """
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(f"{reader} {path}\n")
    server.stdin.flush()
    kind, message = json.loads(server.stdout.readline())
    return kind, message


@functools.cache
def _server() -> subprocess.Popen[str]:
    server = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment() | {"OPENBLAS_NUM_THREADS": "1"},
        text=True,
    )

    def end() -> None:
        server.kill()
        server.wait()

    atexit.register(end)
    return server


def _in_fork(read: Callable[[], tuple[str, str]]) -> tuple[str, str]:
    """Return what a function returns in a fork of this process, or how the fork ends."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os.close(reading)
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
            resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            signal.alarm(_SECONDS)
            os.write(writing, json.dumps(read()).encode())
        os._exit(_EXIT)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "signal", f"{signal.Signals(os.WTERMSIG(status)).name} while the file was read"
    if answer:
        kind, message = json.loads(answer)
        return kind, message
    return "ended", f"exit status {os.WEXITSTATUS(status)}"


def _read(path: Path) -> tuple[str, str]:
    from gensim_tfw2v.files.formats import ModelFileError
    from gensim_tfw2v.files.models import read_vectors

    try:
        vectors = read_vectors(path)
    except ModelFileError as error:
        return "refused", str(error)
    except BaseException as error:
        return "raised", repr(error)
    return "read", str(len(vectors))


def _read_safely(path: Path) -> tuple[str, str]:
    """Read as nobody's file: it is a fault as well if the file's code would run, or if it takes much memory."""
    from gensim_tfw2v.files.formats import ModelFileError
    from gensim_tfw2v.files.safe_vectors import load_vectors_safely

    # Python has no way to remove this hook: only a fork may have it.
    sys.addaudithook(lambda event, _: os._exit(_RAN_CODE) if event == "pickle.find_class" else None)
    tracemalloc.start()
    try:
        found = "read", str(len(load_vectors_safely(path)))
    except ModelFileError as error:
        found = ("raised" if isinstance(error.__cause__, MemoryError) else "refused"), str(error)
    except BaseException as error:
        found = "raised", repr(error)
    most = tracemalloc.get_traced_memory()[1]
    return found if most < _SAFE_MEMORY_BYTES else ("raised", f"{most:,} bytes were taken; {found}")


_READERS = {"model": _read, "safe": _read_safely}


def main() -> None:
    """Answer until standard input ends."""
    import gensim.models  # noqa: F401 (so that forks need not)

    import gensim_tfw2v.files.safe_vectors  # noqa: F401

    os.chdir(tempfile.gettempdir())
    for line in sys.stdin:
        name, _, path = line.removesuffix("\n").partition(" ")
        print(json.dumps(_in_fork(functools.partial(_READERS[name], Path(path)))), flush=True)


if __name__ == "__main__":
    main()
