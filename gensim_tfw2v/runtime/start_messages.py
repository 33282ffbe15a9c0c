"""What TensorFlow's native code prints while it starts, held back; what others print meanwhile passes."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
from collections.abc import Iterator

_AT_ONCE = 65536  # bytes
_WAIT_SECONDS = 1.0  # for the last text, which a program started meanwhile may delay for as long as it runs
# As absl and TensorFlow's own logging write them, checked with TensorFlow 2.16 and 2.21.
_MESSAGE = re.compile(
    rb"[IWEF]\d{4} \d\d:\d\d:\d+\.\d+ +\d+ [\w./]+:\d+\] "  # seconds of a minute, or since 1970
    rb"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [IWEF] (tensorflow|external|xla)/"
    rb"|WARNING: All log messages before absl::InitializeLog\(\) is called are written to STDERR"
    rb"|To enable the following instructions: "
    rb"|Skipping registering GPU devices"
)


@contextlib.contextmanager
def start_messages_held_back() -> Iterator[None]:
    """Hold back TensorFlow's messages on standard error, and show them only if the start fails.

    Native code writes to the file descriptor, which all threads share. It therefore leads to a thread that passes on
    what is no such message.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    _flush()
    try:
        standard_error = os.dup(2)
    except OSError:  # there is no standard error
        yield
        return
    reading, writing = os.pipe()
    sieve = _Sieve(reading, standard_error)
    os.dup2(writing, 2)
    os.close(writing)
    try:
        yield
    except BaseException:
        sieve.shows_all = True
        raise
    finally:
        _flush()
        os.dup2(standard_error, 2)
        sieve.join(_WAIT_SECONDS)


class _Sieve(threading.Thread):
    """Copies text from one descriptor to another without TensorFlow's messages, and closes both at its end."""

    def __init__(self, reading: int, writing: int) -> None:
        super().__init__(name="start-messages", daemon=True)
        self.shows_all = False  # at the end, what was held back as well
        self._reading, self._writing = reading, writing
        self.start()

    def run(self) -> None:
        held_back, line = [], b""
        with os.fdopen(self._writing, "wb", buffering=0) as passed, os.fdopen(self._reading, "rb", buffering=0) as text:
            while found := text.read(_AT_ONCE):
                *lines, line = (line + found).split(b"\n")
                for whole in lines:
                    if _MESSAGE.match(whole):
                        held_back.append(whole + b"\n")
                    else:
                        passed.write(whole + b"\n")
                if line and not _may_become_message(line):
                    passed.write(line)
                    line = b""
            passed.write(line)
            if self.shows_all:
                passed.write(b"".join(held_back))


def _may_become_message(line: bytes) -> bool:
    """Return whether an unfinished line, which a progress bar writes as well, may be the start of a message."""
    return line[:1] in b"IWEFTS0123456789"


def _flush() -> None:
    if sys.stderr is not None:
        with contextlib.suppress(ValueError):  # standard error is closed
            sys.stderr.flush()
