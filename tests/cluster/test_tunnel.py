"""cluster/tunnel.sh: the certificates that it makes, who gets through the tunnel, and a training through it."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.child_process import environment, wait_until
from support.namespaces import NEAR, OTHER, PROGRAMS, SERVING, Program, address, inside, two_machines

SCRIPT = Path(__file__).parents[2] / "cluster" / "tunnel.sh"
PORT = 23450
ROUNDING = 1e-5
HERE, THERE = address(SERVING, NEAR), address(OTHER, NEAR)

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no program openssl")
needs_stunnel = pytest.mark.skipif(
    shutil.which("stunnel4") is None and shutil.which("stunnel") is None, reason="there is no program stunnel"
)


def make(folder: Path, hosts: str = f"ps {HERE}:{PORT}\nworker {THERE}:{PORT}\n") -> subprocess.CompletedProcess[str]:
    """Run `tunnel.sh make` on a list of hosts; the result is `folder/tunnel`."""
    folder.mkdir(exist_ok=True)
    (folder / "hosts").write_text(hosts)
    command = ["bash", str(SCRIPT), "make", str(folder / "hosts"), str(folder / "tunnel")]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@contextlib.contextmanager
def running(machine: str, folder: Path, python: str = sys.executable) -> Iterator[None]:
    """Run a machine's end of the tunnel and its tasks meanwhile."""
    command = [*inside(machine), "bash", str(SCRIPT), "run", str(folder)]
    with (folder / "run.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment() | {"TFW2V_PYTHON": python}, stdout=log, stderr=log)
    try:
        wait_until(lambda: "--cluster" in (folder / "run.log").read_text() or process.poll() is not None)
        assert process.poll() is None, (folder / "run.log").read_text()
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def is_greeted(host: str, folder: str | Path, port: int = PORT) -> bool:
    """Return whether the tunnel's end at a host answers the other machine, which has the certificate in a folder."""
    program = [sys.executable, str(PROGRAMS / "tls_client.py"), host, str(port), str(folder)]
    done = subprocess.run([*inside(OTHER), *program], capture_output=True, text=True, timeout=60, check=True)
    return bool(json.loads(done.stdout))


def settings_server(folder: Path) -> str:
    """Return a program that stands for Python, and its servers for TensorFlow's."""
    program = folder / "python"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {PROGRAMS}/settings_server.py "$@"\n')
    program.chmod(0o755)
    return str(program)


def test_every_machine_gets_a_certificate_and_the_same_addresses(tmp_path: Path) -> None:
    assert make(tmp_path, "ps a:1\nps a:2 # both on one host\nworker 10.0.0.1:1\n").returncode == 0
    machines = {path.name: path for path in (tmp_path / "tunnel").iterdir()}
    assert set(machines) == {"a", "10.0.0.1", "coordinator"}
    addresses = [json.loads((path / "cluster.json").read_text()) for path in machines.values()]
    assert addresses == [{"ps": ["127.77.0.1:24450", "127.77.0.2:24451"], "worker": ["127.77.0.3:24452"]}] * 3
    assert {name: (path / "tasks").read_text() for name, path in machines.items()} == {
        "a": "ps 0\nps 1\n",
        "10.0.0.1": "worker 0\n",
        "coordinator": "",
    }
    for path in machines.values():
        authority = ["openssl", "verify", "-CAfile", str(path / "ca.pem"), str(path / "cert.pem")]
        assert subprocess.run(authority, capture_output=True).returncode == 0
    assert len({(path / "key.pem").read_text() for path in machines.values()}) == 3


def test_nobody_can_read_a_key_or_make_another_certificate(tmp_path: Path) -> None:
    make(tmp_path)
    files = [path for path in (tmp_path / "tunnel").rglob("*") if path.is_file()]
    assert {path.stat().st_mode & 0o077 for path in files} == {0}
    with_keys = {path.name for path in files if "PRIVATE KEY" in path.read_text()}
    assert with_keys == {"key.pem"}


@pytest.mark.parametrize(
    ("hosts", "message"),
    [
        ("ps a:1\n", "worker HOST:PORT"),
        ("ps a:24451\nworker b:1\n", "a:24451: tasks need the ports from 24450 on"),
        ("ps [::1]:1\nworker b:1\n", "a name in place of an IPv6 address"),
    ],
)
def test_a_list_of_hosts_that_cannot_be_is_refused(tmp_path: Path, hosts: str, message: str) -> None:
    done = make(tmp_path, hosts)
    assert done.returncode == 1
    assert message in done.stderr
    assert not (tmp_path / "tunnel").exists()


def test_certificates_are_not_overwritten(tmp_path: Path) -> None:
    make(tmp_path)
    done = make(tmp_path)
    assert done.returncode == 1
    assert "is there already" in done.stderr


@needs_stunnel
def test_the_tunnel_answers_who_has_a_certificate_and_nobody_else(tmp_path: Path) -> None:
    make(tmp_path)
    make(tmp_path / "forged")
    with two_machines(), running(SERVING, tmp_path / "tunnel" / HERE, settings_server(tmp_path)):
        wait_until(lambda: is_greeted(HERE, tmp_path / "tunnel" / THERE))
        assert not is_greeted(HERE, "none")
        assert not is_greeted(HERE, "plain")
        assert not is_greeted(HERE, tmp_path / "forged" / "tunnel" / THERE)


@pytest.mark.slow
@needs_stunnel
def test_a_machine_that_stands_in_for_another_one_is_not_believed(tmp_path: Path) -> None:
    make(tmp_path, f"ps {HERE}:{PORT}\nworker {THERE}:{PORT}\nworker nowhere.invalid:{PORT}\n")
    here, there, third = (tmp_path / "tunnel" / machine for machine in (HERE, THERE, "nowhere.invalid"))
    program = settings_server(tmp_path)
    with two_machines(), running(OTHER, there, program):
        with running(SERVING, here, program):
            wait_until(lambda: is_greeted("127.77.0.1", "plain", 24450))
        for name in ("cert.pem", "key.pem"):
            shutil.copy(third / name, here / name)
        with running(SERVING, here, program):
            wait_until(lambda: is_greeted(HERE, there))
            assert not is_greeted("127.77.0.1", "plain", 24450)


@needs_stunnel
@pytest.mark.slow
def test_a_cluster_trains_through_the_tunnel(tmp_path: Path) -> None:
    make(tmp_path)
    here, there = (tmp_path / "tunnel" / machine for machine in (HERE, THERE))
    with two_machines(), running(SERVING, here), running(OTHER, there):
        wait_until(
            lambda: all(" is ready " in path.read_text() for path in (here / "ps-0.log", there / "worker-0.log"))
        )
        with Program(OTHER, "coordinator", there / "cluster.json") as coordinator:
            assert coordinator.ask("train")["difference"] < ROUNDING
        assert is_greeted(HERE, there)
        assert not is_greeted(HERE, "none")
        assert not is_greeted(HERE, "plain")
