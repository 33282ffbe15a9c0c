"""What this machine's processor does well."""

from __future__ import annotations

import functools
import os
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")  # of Linux; elsewhere nothing is known of the processor
_BFLOAT16_INSTRUCTIONS = frozenset({"avx512_bf16", "amx_bf16"})


def multiplies_bfloat16() -> bool:
    """Return whether TensorFlow multiplies matrices of bfloat16 by instructions made for it.

    oneDNN uses them, unless the user has turned it off. Without them such products are slower than float32's.
    """
    return os.environ.get("TF_ENABLE_ONEDNN_OPTS") != "0" and not _BFLOAT16_INSTRUCTIONS.isdisjoint(_flags())


@functools.cache
def _flags() -> frozenset[str]:
    """Return the processor's features, by Linux' names for them."""
    try:
        lines = _CPUINFO.read_text().splitlines()
    except OSError:
        return frozenset()
    flags = next((line for line in lines if line.startswith("flags")), ":")
    return frozenset(flags.partition(":")[2].split())
