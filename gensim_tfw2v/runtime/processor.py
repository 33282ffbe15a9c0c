"""What this machine's processor does well."""

from __future__ import annotations

import functools
import os
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")  # of Linux; elsewhere nothing is known of the processor
_TILE_INSTRUCTIONS = "amx_bf16"
# What the levels x86-64-v3 and x86-64-v4 have beyond those before them, by Linux' names for it.
_LEVEL_INSTRUCTIONS = {
    "v3": frozenset({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"}),
    "v4": frozenset({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}),
}
_BFLOAT16_INSTRUCTIONS = frozenset({"avx512_bf16", _TILE_INSTRUCTIONS})


def multiplies_bfloat16() -> bool:
    """Return whether TensorFlow multiplies matrices of bfloat16 by instructions made for it.

    oneDNN uses them, unless the user has turned it off. Without them such products are slower than float32's.
    """
    return _uses_onednn() and not _BFLOAT16_INSTRUCTIONS.isdisjoint(_flags())


def multiplies_tiles() -> bool:
    """Return whether those instructions multiply whole tiles of matrices.

    The cores measured that have them have two megabytes of second-level cache, twice those of the ones without.
    """
    return _uses_onednn() and _TILE_INSTRUCTIONS in _flags()


def instruction_level() -> str:
    """Return the highest level of instructions, of those that operations are compiled for, that the processor has."""
    level = "baseline"
    for higher, needed in _LEVEL_INSTRUCTIONS.items():
        if not needed <= _flags():
            break
        level = higher
    return level


def _uses_onednn() -> bool:
    return os.environ.get("TF_ENABLE_ONEDNN_OPTS") != "0"


@functools.cache
def _flags() -> frozenset[str]:
    """Return the processor's features, by Linux' names for them."""
    try:
        lines = _CPUINFO.read_text().splitlines()
    except OSError:
        return frozenset()
    flags = next((line for line in lines if line.startswith("flags")), ":")
    return frozenset(flags.partition(":")[2].split())
