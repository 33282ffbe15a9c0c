"""The mode in which the contract suite trains designs: skip-gram with negative sampling, or what `--mode` names."""

from __future__ import annotations

from support.contract import MODES

MODE: dict[str, int] = dict(MODES["skipgram-negative"])
"""The model's arguments."""


def train_in(mode: str) -> None:
    """Train designs in this mode, one of `contract.MODES`, from now on."""
    MODE.update(MODES[mode])


def mode_of_documents() -> dict[str, int]:
    """Return the arguments that train documents as this mode trains words: skip-gram is a bag of words beside words."""
    others = {name: value for name, value in MODE.items() if name != "sg"}
    return others | {"dm": 1 - MODE["sg"], "dbow_words": MODE["sg"]}
