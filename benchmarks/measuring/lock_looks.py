"""Looks at another process until a line comes in: which mark its thread shows, and whether its Python lock is held."""

from __future__ import annotations

import json
import os
import select
import sys
from collections import Counter

from measuring.python_lock import ProcessMemory

_LOOKS_AT_ONCE = 1000


def main(process: int, lock: int, mark: int, processor: int) -> int:
    """Print how often each mark was seen without and with the lock; the status is 0."""
    os.sched_setaffinity(0, [processor])
    memory, seen = ProcessMemory(process), Counter[tuple[int, bool]]()
    print(flush=True)  # now it looks
    while not select.select([sys.stdin], [], [], 0)[0]:
        for _ in range(_LOOKS_AT_ONCE):
            seen[memory.number(mark), bool(memory.number(lock))] += 1
    print(json.dumps([(number, held, count) for (number, held), count in seen.items()]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*map(int, sys.argv[1:])))
