"""The settings of a descent besides the model's steps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """The settings of a descent besides the model's steps."""

    history: int  # pairs of steps and changes that the two-loop recursion uses
    seed: int  # seed of outputs that begin at random
