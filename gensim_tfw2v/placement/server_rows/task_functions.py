"""What a worker that trains on copies of servers' rows does for graphs that call it by name."""

from __future__ import annotations

from typing import Any

from gensim_tfw2v.placement.tasks.block_factory import BlockFactory

MAKE_BLOCK = "gensim_tfw2v.make_block"


def make_block(factory: BlockFactory, name: bytes, assignment: Any) -> Any:
    """Return the arrays of the block that an assignment describes, with rows numbered for a copy of them."""
    from gensim_tfw2v.placement.server_rows.staging import stage

    return factory.made(name, assignment, stage)
