"""What a worker does for graphs that ask it for the arrays of a portion."""

from __future__ import annotations

from typing import Any

from gensim_tfw2v.placement.tasks.block_factory import BlockFactory

MAKE_PORTION = "gensim_tfw2v.make_portion"


def make_portion(factory: BlockFactory, name: bytes, request: Any) -> Any:
    """Return the arrays of the portion that a request describes, with rows numbered for a copy of them."""
    from gensim_tfw2v.placement.lbfgs.portion import portion_on
    from gensim_tfw2v.placement.lbfgs.request import unpack

    return factory.made(name, request, portion_on, unpack)
