"""What a worker that has tables of its own does for graphs that call it by name."""

from __future__ import annotations

from typing import Any

from gensim_tfw2v.placement.tasks.block_factory import BlockFactory

MAKE_OWN_BLOCK = "gensim_tfw2v.make_own_block"


def make_own_block(factory: BlockFactory, name: bytes, assignment: Any) -> Any:
    """Return the arrays of the block that an assignment describes, for tables on this task."""
    from gensim_tfw2v.placement.averaging.blocks import own_block

    return factory.made(name, assignment, own_block)
