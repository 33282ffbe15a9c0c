"""What a worker that has sub-models does for graphs that call it by name."""

from __future__ import annotations

from functools import partial
from typing import Any

from gensim_tfw2v.placement.tasks.block_factory import BlockFactory
from gensim_tfw2v.placement.tasks.codec import decode

MAKE_SHARE_BLOCK = "gensim_tfw2v.make_share_block"


def make_share_block(factory: BlockFactory, name: bytes, assignment: Any) -> Any:
    """Return the arrays of the block of a sub-model's share."""
    from gensim_tfw2v.placement.partition.blocks import ShareAssignment, share_block

    return factory.made(name, assignment, share_block, partial(decode, ShareAssignment))
