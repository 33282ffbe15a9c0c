"""Names of leases: which process each belongs to, and whether that process is known to have ended."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from gensim_tfw2v.cluster import leases
from gensim_tfw2v.cluster.leases import is_ours, lease_name, owner_has_died
from gensim_tfw2v.runtime import processes
from gensim_tfw2v.runtime.processes import machine_name


def output_of(script: str) -> list[str]:
    """Return the words that a process of its own prints."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


def token_of(lease: str) -> str:
    return lease.split("/")[-2]


def test_a_lease_is_named_after_its_host_process_and_number() -> None:
    host, _, process, _, number = lease_name(3).split("/")
    assert (host, process, number) == (platform.node(), str(os.getpid()), "3")
    assert lease_name(3) == lease_name(3)


def test_only_a_process_of_this_machine_is_known_to_have_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (ended,) = output_of("from gensim_tfw2v.cluster.leases import lease_name; print(lease_name(0))")
    assert owner_has_died(ended)
    assert not owner_has_died(lease_name(0))
    (tmp_path / "pid").symlink_to("pid:[1]")  # as in a container that numbers its processes apart
    monkeypatch.setattr(processes, "PROCESS_NAMESPACE", tmp_path / "pid")
    assert not owner_has_died(ended)


@pytest.mark.parametrize("lease", ["", "5", "/" * 4, "a/b/c/d/e", "host/{}/-1/t/0", "host/{}/99999999999999999999/t/0"])
def test_a_name_that_no_lease_has_belongs_to_nobody(lease: str) -> None:
    name = lease.format(machine_name())
    assert not owner_has_died(name)
    assert not is_ours(name)


def test_on_a_system_without_other_names_the_host_name_is_enough(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("BOOT_ID", "PROCESS_NAMESPACE"):
        monkeypatch.setattr(processes, name, tmp_path / "none")
    assert not owner_has_died(lease_name(0))
    monkeypatch.setattr(leases, "is_running", lambda process: False)
    assert owner_has_died(lease_name(0))


def test_a_forked_process_and_another_of_the_same_number_have_names_of_their_own() -> None:
    script = """
import os
from gensim_tfw2v.cluster import leases
print(leases.lease_name(0), flush=True)
if os.fork() == 0:
    print(leases.lease_name(0), flush=True)
    os._exit(0)
os.wait()
leases._token.cache_clear()  # which a process that has not been forked from this one begins without
print(leases.lease_name(0))
"""
    assert len({token_of(lease) for lease in output_of(script)}) == 3
