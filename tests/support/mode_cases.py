"""Modes as parameters of tests that take long: two modes run by default, the others with --all."""

from __future__ import annotations

from typing import Any

import pytest

from support.contract import PURE_MODES

USUAL = "skipgram-negative", "cbow-hierarchical"  # each model and each training method
MODE_NAMES = [pytest.param(name, marks=[] if name in USUAL else pytest.mark.slow) for name in PURE_MODES]
MODE_ARGUMENTS: list[Any] = [
    pytest.param(arguments, id=name, marks=[] if name in USUAL else pytest.mark.slow)
    for name, arguments in PURE_MODES.items()
]
