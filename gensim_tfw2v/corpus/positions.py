"""How far a pass over a corpus has come. Commands that show help import this, so it needs no NumPy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PassPosition:
    """How far a pass over the corpus has come."""

    chunks: int = 0
    """Chunks taken so far: those numbered from 0 to this."""
    checksum: int = 0
    """Checksum of all of them, 0 if none was computed."""
    missing: tuple[int, ...] = ()
    """Numbers of the chunks that were taken and not trained."""


BEGINNING = PassPosition()
