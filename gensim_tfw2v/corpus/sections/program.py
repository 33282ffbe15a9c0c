"""The program of an encoding process: it answers requests, one line each, until its input or its work ends.

It imports neither gensim nor TensorFlow.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Sequence

from gensim_tfw2v.corpus.sections.counting import count_section
from gensim_tfw2v.corpus.sections.merging import merge_bucket
from gensim_tfw2v.corpus.sections.requests import (
    Answer,
    CountRequest,
    DamagedMessageError,
    MergeRequest,
    Request,
    answer_line,
    error_line,
    request_of,
)
from gensim_tfw2v.corpus.sections.writing import write_section

_IDLE_SECONDS = 300.0  # a worker of a cluster keeps its processes when the coordinator has died


def answer(request: Request) -> Answer:
    """Return the answer to a request."""
    if isinstance(request, CountRequest):
        return count_section(request)
    if isinstance(request, MergeRequest):
        return merge_bucket(request)
    write_section(request)
    return None


def answer_to_line(line: bytes) -> bytes:
    """Return the line that answers a line; it stands for an error if the files or the request are wrong."""
    try:
        return answer_line(answer(request_of(line)))
    except (OSError, ValueError, ImportError) as error:
        return error_line(error)
    except (TypeError, LookupError, AttributeError, ArithmeticError) as error:  # the request has wrong fields
        return error_line(DamagedMessageError(f"no request that can be answered: {type(error).__name__}: {error}"))


def main(arguments: Sequence[str]) -> None:
    """Answer the lines of standard input."""
    del arguments  # there are none
    # Ctrl-C reaches the whole process group, but whoever started this process ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A request is sent when the one before is answered, so nothing of it is buffered while this process waits.
    while select.select([sys.stdin], [], [], _IDLE_SECONDS)[0]:
        line = sys.stdin.buffer.readline()
        if not line:
            return
        found = answer_to_line(line)
        try:
            sys.stdout.buffer.write(found)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            os._exit(0)  # nobody reads; the interpreter must not try again at exit
