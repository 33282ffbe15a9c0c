"""Resource handles of what a training has on servers, as graphs take them."""

from __future__ import annotations

from typing import Any, NamedTuple


class Slot(NamedTuple):
    """Handles of what a server keeps of a block until it adds the block's changes: two variables for each shard."""

    rows: tuple[Any, ...]  # int32 [3 + n]: how many rows of each of `TABLES`, and which
    changes: tuple[Any, ...]  # [n, D] in the number format in which rows are sent


NO_SLOT = Slot((), ())


class Handles(NamedTuple):
    """Resource handles on the servers."""

    tables: tuple[tuple[Any, ...], ...]  # shards of each table in use
    version: Any  # blocks pushed so far, on the first server
    generations: tuple[Any, ...]  # each server's int32 variable [workers]
    slot: Slot = NO_SLOT  # of the block that is trained, if servers add its changes later
