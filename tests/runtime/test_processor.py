"""What is known of the processor follows from what Linux tells of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gensim_tfw2v.runtime import processor

PLAIN = "processor\t: 0\nflags\t\t: fpu sse2 avx512f avx512_vnni\n\nprocessor\t: 1\nflags\t\t: fpu sse2\n"


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    processor._flags.cache_clear()
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    yield
    processor._flags.cache_clear()


@pytest.mark.parametrize(
    ("told", "environment", "bfloat16", "tiles"),
    [
        (PLAIN, {}, False, False),
        (PLAIN.replace("avx512_vnni", "avx512_bf16"), {}, True, False),
        (PLAIN.replace("avx512_vnni", "amx_bf16"), {"TF_ENABLE_ONEDNN_OPTS": "1"}, True, True),
        (PLAIN.replace("avx512_vnni", "avx512_bf16 amx_bf16"), {"TF_ENABLE_ONEDNN_OPTS": "0"}, False, False),
        ("Features\t: fp asimd bf16\n", {}, False, False),
        ("", {}, False, False),
        (None, {}, False, False),
    ],
    ids=["without", "avx512", "amx", "without oneDNN", "not x86", "empty", "not Linux"],
)
def test_bfloat16_and_tiles_are_multiplied_by_instructions_for_them(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    told: str | None,
    environment: dict[str, str],
    bfloat16: bool,
    tiles: bool,
) -> None:
    path = tmp_path / "cpuinfo"
    if told is not None:
        path.write_text(told)
    monkeypatch.setattr(processor, "_CPUINFO", path)
    monkeypatch.delenv("TF_ENABLE_ONEDNN_OPTS", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert processor.multiplies_bfloat16() is bfloat16
    assert processor.multiplies_tiles() is tiles


V3 = "avx avx2 bmi1 bmi2 f16c fma abm movbe"
V4 = "avx512f avx512bw avx512cd avx512dq avx512vl"


@pytest.mark.parametrize(
    ("flags", "level"),
    [
        ("fpu sse2", "baseline"),
        (V3, "v3"),
        (f"{V3} {V4} amx_bf16", "v4"),
        (V3.replace(" fma", ""), "baseline"),
        (f"{V3} {V4}".replace(" fma", ""), "baseline"),
        (f"{V3} {V4}".replace(" avx512vl", ""), "v3"),
        (V4, "baseline"),
        (None, "baseline"),
    ],
)
def test_a_level_of_instructions_is_used_if_all_of_it_and_of_those_below_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: str | None, level: str
) -> None:
    path = tmp_path / "cpuinfo"
    if flags is not None:
        path.write_text(f"processor\t: 0\nflags\t\t: {flags}\n")
    monkeypatch.setattr(processor, "_CPUINFO", path)
    assert processor.instruction_level() == level


def test_an_emulated_processor_has_no_instructions_of_the_real_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cpuinfo"
    path.write_text(f"flags\t\t: {V3} {V4} amx_bf16\n")
    monkeypatch.setattr(processor, "_CPUINFO", path)
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert processor.instruction_level() == "baseline"
    assert not processor.multiplies_bfloat16()
