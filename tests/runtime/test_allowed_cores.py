"""How many cores a process may use: what its control groups allow, in both versions of these."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from gensim_tfw2v.runtime import cores
from gensim_tfw2v.runtime.cores import allowed_cores
from gensim_tfw2v.runtime.tensorflow import usable_cores

NESTED = "0::/jobs/one\n"
BOTH = "5:memory:/jobs\n4:cpu,cpuacct:/jobs/one\n1:name=systemd:/\n0::/\n"
FIRST = "sys/fs/cgroup/cpu,cpuacct"


def quota(microseconds: int, period: int = 100_000) -> dict[str, str]:
    """Return the files of a limit in version 1."""
    return {"cpu.cfs_quota_us": f"{microseconds}\n", "cpu.cfs_period_us": f"{period}\n"}


def system(folder: Path, groups: str | None, files: Mapping[str, str]) -> Path:
    """Return a folder with these groups of this process, and these files of limits."""
    for path, text in {**files, **({} if groups is None else {"proc/self/cgroup": groups})}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        (None, {}, 16),
        (NESTED, {}, 16),
        (NESTED, {"sys/fs/cgroup/jobs/one/cpu.max": "max 100000\n"}, 16),
        (NESTED, {"sys/fs/cgroup/jobs/one/cpu.max": "450000 100000\n"}, 4),
        (NESTED, {"sys/fs/cgroup/jobs/one/cpu.max": "50000 100000\n"}, 1),
        (NESTED, {"sys/fs/cgroup/jobs/one/cpu.max": "6400000 100000\n"}, 16),
        (NESTED, {"sys/fs/cgroup/jobs/cpu.max": "300000 100000\n", "sys/fs/cgroup/jobs/one/cpu.max": "max 1\n"}, 3),
        ("0::/of/the/host\n", {"sys/fs/cgroup/cpu.max": "200000 100000\n"}, 2),
        (NESTED, {"sys/fs/cgroup/jobs/one/cpu.max": "damaged"}, 16),
        (BOTH, {f"{FIRST}/jobs/one/{name}": text for name, text in quota(250_000).items()}, 2),
        (BOTH, {f"{FIRST}/jobs/one/{name}": text for name, text in quota(-1).items()}, 16),
        (BOTH, {f"sys/fs/cgroup/cpu/{name}": text for name, text in quota(80_000, 10_000).items()}, 8),
    ],
    ids=[
        "no groups",
        "no limit",
        "unlimited",
        "four and a half",
        "half",
        "more than there are",
        "of a parent",
        "of a container",
        "damaged",
        "version 1",
        "version 1 unlimited",
        "version 1 of a container",
    ],
)
def test_the_cores_that_a_process_may_use_are_those_within_its_limits(
    groups: str | None, files: Mapping[str, str], expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cores, "usable_cores", lambda: 16)
    assert allowed_cores(system(tmp_path, groups, files)) == expected


def test_this_process_may_use_a_core() -> None:
    assert 1 <= allowed_cores() <= cores.usable_cores()


def test_an_environment_variable_gives_tests_and_benchmarks_another_number_of_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("TFW2V_CORES", raising=False)
    found = usable_cores()
    monkeypatch.setenv("TFW2V_CORES", str(found + 5))
    assert usable_cores() == found + 5
