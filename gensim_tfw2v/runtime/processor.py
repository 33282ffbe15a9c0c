"""The instructions that this machine's processor has."""

from __future__ import annotations

import functools
import os
import platform

from gensim_tfw2v.runtime.system import PROC

_CPUINFO = PROC / "cpuinfo"  # where it is missing, the processor counts as a baseline one
_X86_64 = ("x86_64", "AMD64")
_TILE_INSTRUCTIONS = "amx_bf16"
# Instructions that x86-64-v3 and x86-64-v4 add to the level before, by Linux's names.
_LEVEL_INSTRUCTIONS = {
    "v3": frozenset({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"}),
    "v4": frozenset({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}),
}
_BFLOAT16_INSTRUCTIONS = frozenset({"avx512_bf16", _TILE_INSTRUCTIONS})


def multiplies_bfloat16() -> bool:
    """Return whether TensorFlow multiplies bfloat16 matrices with instructions made for it.

    oneDNN uses these instructions, unless the user has turned it off. Without them bfloat16 is slower than float32.
    """
    return _uses_onednn() and not _BFLOAT16_INSTRUCTIONS.isdisjoint(_flags())


def multiplies_tiles() -> bool:
    """Return whether these instructions multiply whole tiles of matrices (AMX).

    The measured cores with AMX have two megabytes of second-level cache, twice as much as those without.
    """
    return _uses_onednn() and _TILE_INSTRUCTIONS in _flags()


def processor_name() -> str:
    """Return the processor's name, "unknown" where Linux does not tell it."""
    return _first_value_of("model name") or "unknown"


def instruction_level() -> str:
    """Return the highest level that the processor has, among those that the operations are compiled for."""
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
    """Return the features of an x86-64 processor by Linux's names, none of another one.

    To a process for which another processor is emulated, Linux tells those of the real one.
    """
    return frozenset(_first_value_of("flags").split() if platform.machine() in _X86_64 else ())


def _first_value_of(field: str) -> str:
    """Return what Linux says of the first core, an empty text if it says nothing."""
    try:
        lines = _CPUINFO.read_text().splitlines()
    except OSError:
        return ""
    line = next((line for line in lines if line.startswith(field)), "")
    return line.partition(":")[2].strip()
