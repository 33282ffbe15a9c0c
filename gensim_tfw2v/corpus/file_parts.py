"""A corpus file → its parts in order, tokenised by several processes at once."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Generator
from contextlib import ExitStack
from itertools import cycle
from types import TracebackType

from gensim_tfw2v import tuning
from gensim_tfw2v.corpus.child_program import ChildProgram, can_start
from gensim_tfw2v.corpus.decompression import is_compressed
from gensim_tfw2v.corpus.reading_process import read_parts
from gensim_tfw2v.corpus.table_file import is_table
from gensim_tfw2v.corpus.tokenizer import Part

_MODULE = "gensim_tfw2v.corpus.reading_process"


def file_parts(
    path: str,
    workers: int,
    part_bytes: int,
    column: str | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> Generator[tuple[int, Part], None, None]:
    """Yield the parts of a file in order, each with its reader. Parts of one reader use the same word numbers.

    `meanwhile` is called when processes have begun to read, for which this one mostly waits.
    """
    size = os.path.getsize(path)
    parts = -(-size // part_bytes)
    if is_compressed(path) or is_table(path):
        parts *= tuning.USUAL_COMPRESSION
        workers = min(workers, tuning.MOST_DECOMPRESSING_READERS)
    if workers <= 1 or parts <= tuning.SMALL_FILE_PARTS or not can_start():
        for part in read_parts(path, size, part_bytes, 0, 1, column):
            yield 0, part
    else:
        workers = min(workers, parts)
        with ExitStack() as stack:
            readers = [
                stack.enter_context(_ReadingProcess(path, size, part_bytes, first, workers, column))
                for first in range(workers)
            ]
            if meanwhile is not None:
                meanwhile()
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
        self._program = ChildProgram(_MODULE, arguments)

    def __enter__(self) -> _ReadingProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._program.end()

    def next_part(self) -> Part | None:
        """Return the process's next part, or None after its last; raise the error that ended the process."""
        try:
            message = pickle.load(self._program.output)
        except (EOFError, pickle.UnpicklingError):
            raise self._death() from None
        if isinstance(message, Exception):
            raise message
        assert message is None or isinstance(message, Part)
        return message

    def _death(self) -> RuntimeError:
        return RuntimeError(
            f"a process reading {self._path} {self._program.how_it_ended()}; "
            "train again, with workers=1 to read in this process"
        )
