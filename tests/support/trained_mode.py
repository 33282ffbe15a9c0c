"""The mode in which the contract suite trains designs: skip-gram with negative sampling, or what `--mode` names."""

from __future__ import annotations

from support.contract import MODES

MODE: dict[str, int] = dict(MODES["skipgram-negative"])
"""The model's arguments."""


def train_in(mode: str) -> None:
    """Train designs in this mode, one of `contract.MODES`, from now on."""
    MODE.update(MODES[mode])
