"""Modes as parameters of tests that take long: one or two run by default, the others with --all."""

from __future__ import annotations

from typing import Any

import pytest

from support.contract import MODES, PURE_MODES

USUAL = "skipgram-negative"
MODE_NAMES = [pytest.param(name, marks=[] if name == USUAL else pytest.mark.slow) for name in PURE_MODES]
MODE_ARGUMENTS: list[Any] = [
    pytest.param(arguments, id=name, marks=[] if name == USUAL else pytest.mark.slow)
    for name, arguments in PURE_MODES.items()
]
# Each model and each training method by default.
EVERY_MODE: list[Any] = [
    pytest.param(arguments, id=name, marks=[] if name in (USUAL, "cbow-hierarchical") else pytest.mark.slow)
    for name, arguments in MODES.items()
]
