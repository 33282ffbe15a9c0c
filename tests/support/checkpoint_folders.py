"""Small checkpoints for tests, and why one is refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gensim_tfw2v.checkpoints.arrays import ArrayToWrite
from gensim_tfw2v.checkpoints.errors import CheckpointError
from gensim_tfw2v.checkpoints.folder import Checkpoint, CheckpointFolder

NUMBERS = np.arange(12, dtype=np.float32).reshape(3, 4)


def write(folder: CheckpointFolder, **arrays: Any) -> Checkpoint:
    """Write a checkpoint of arrays in memory."""
    return folder.write({"number": 1}, {name: ArrayToWrite.of(array) for name, array in arrays.items()})


def refusal(path: Path) -> str:
    """Return why a checkpoint is refused when all of it is read."""
    with pytest.raises(CheckpointError) as caught:
        Checkpoint(path).check()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def names_in(folder: CheckpointFolder) -> list[str]:
    """Return the names of all files and folders in a folder of checkpoints."""
    return sorted(os.listdir(folder.path))
