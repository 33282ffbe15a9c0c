"""Every placement there is, for the suites that all of them have to pass."""

from __future__ import annotations

from collections.abc import Callable

from gensim_tfw2v.batches import BlockMaker
from gensim_tfw2v.placement import Placement, StepSettings
from gensim_tfw2v.placement.local import LocalPlacement

PLACEMENTS: dict[str, Callable[[StepSettings, BlockMaker, int], Placement]] = {"local": LocalPlacement}
