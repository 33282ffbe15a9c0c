"""A corpus file → its parts in order, tokenised by several processes at once.

A file is cut into parts at white space, near every ``part_bytes`` bytes. A reader tokenises every ``step``-th part. It
numbers words by itself, and sends the text of each word once. A compressed file can only be read from its beginning, so
each reader decompresses all of it. Of a table, a reader reads the rows of its own parts.

A reading process runs `main`, and imports little but NumPy.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack
from itertools import chain, cycle

from gensim_tfw2v import tuning
from gensim_tfw2v.corpus.child_program import ChildProgram, can_start, output_to_parent
from gensim_tfw2v.corpus.table_file import is_table, table_parts
from gensim_tfw2v.corpus.text_file import compressed_parts, is_compressed, plain_parts
from gensim_tfw2v.corpus.tokenizer import Part

_MODULE = "gensim_tfw2v.corpus.file_parts"
NumberedParts = Generator[tuple[int, Part], None, None]  # parts of a corpus in order, each with its reader


def file_parts(
    path: str,
    workers: int,
    part_bytes: int,
    column: str | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> NumberedParts:
    """Yield the parts of a file in order, each with its reader. Parts of one reader use the same word numbers.

    `meanwhile` is called when processes have begun to read, for which this one mostly waits.
    """
    size = os.path.getsize(path)
    parts = -(-size // part_bytes)
    if is_compressed(path) or is_table(path):
        parts *= tuning.USUAL_COMPRESSION
        workers = min(workers, tuning.MOST_DECOMPRESSING_READERS)
    if workers <= 1 or parts <= tuning.SMALL_FILE_PARTS or not can_start():
        yield from of_one_reader(read_parts(path, size, part_bytes, 0, 1, column))
        return
    workers = min(workers, parts)
    with ExitStack() as stack:
        programs = []
        for first in range(workers):
            arguments = [path, *map(str, (size, part_bytes, first, workers)), *([] if column is None else [column])]
            programs.append(ChildProgram(_MODULE, arguments))
            stack.callback(programs[-1].end)
        if meanwhile is not None:
            meanwhile()
        for number, program in cycle(enumerate(programs)):
            # A process that is ahead waits until its pipe is emptied, which bounds memory.
            found = _next_part(program, path)
            if found is None:
                return
            yield number, found


def of_one_reader(parts: Iterable[Part]) -> NumberedParts:
    """Yield each part with 0, the number of its only reader."""
    for part in parts:
        yield 0, part


def read_parts(
    path: str,
    size: int,
    part_bytes: int,
    first: int,
    step: int,
    column: str | None = None,
    end: int | None = None,
) -> Iterator[Part]:
    """Yield parts ``first``, ``first + step``, ... of the first ``size`` bytes of a file, up to part ``end``.

    Of a compressed file or a table, yield those of all its content.
    """
    if is_table(path):
        return table_parts(path, part_bytes, first, step, column)
    if is_compressed(path):
        return compressed_parts(path, part_bytes, first, step)
    return plain_parts(path, size, part_bytes, first, step, end)


def _next_part(program: ChildProgram, path: str) -> Part | None:
    """Return a process's next part, or None after its last; raise the error that ended the process."""
    try:
        message = pickle.load(program.output)
    except (EOFError, pickle.UnpicklingError):
        raise RuntimeError(
            f"a process reading {path} {program.how_it_ended()}; train again, with workers=1 to read in this process"
        ) from None
    if isinstance(message, Exception):
        raise message
    assert message is None or isinstance(message, Part)
    return message


def main(arguments: list[str]) -> None:
    """Write the parts that `read_parts` yields for these arguments, and None, to standard output, pickled."""
    path, (size, part_bytes, first, step) = arguments[0], map(int, arguments[1:5])
    column = arguments[5] if len(arguments) > 5 else None
    with output_to_parent() as output:
        try:
            for part in chain(read_parts(path, size, part_bytes, first, step, column), [None]):
                pickle.dump(part, output, protocol=5)
                output.flush()
        except BrokenPipeError:
            raise
        except (OSError, ValueError, ImportError) as error:
            pickle.dump(error, output, protocol=5)
