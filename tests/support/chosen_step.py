"""Trainings with a step that a test chooses, in place of the one that this process has loaded."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from gensim_tfw2v.steps.kernel import kernel


@contextlib.contextmanager
def training_with(name: str) -> Iterator[None]:
    """Have this process, and tasks that it starts meanwhile, train with the step of this name."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TFW2V_STEP", name)
            kernel.cache_clear()
            yield
    finally:
        kernel.cache_clear()
