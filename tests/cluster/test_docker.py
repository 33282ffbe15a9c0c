"""cluster/docker/: the image and the cluster of containers run commands that the package has."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from gensim_tfw2v.cli import main as cli
from gensim_tfw2v.cluster.specification import own_task, read_environment

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "cluster" / "docker"
DOCKERFILE = (FOLDER / "Dockerfile").read_text(encoding="utf8")


def instructions(name: str) -> list[str]:
    """Return the arguments of each instruction of this name in the Dockerfile."""
    return re.findall(rf"^{name} (.*)$", DOCKERFILE, re.MULTILINE)


def services() -> dict[str, dict[str, Any]]:
    """Return the services of the cluster with the variables of the file .env."""
    text = (FOLDER / "compose.yaml").read_text(encoding="utf8")
    for line in (FOLDER / ".env").read_text(encoding="utf8").splitlines():
        if not line.startswith("#"):
            name, _, value = line.partition("=")
            text = text.replace(f"${{{name}}}", value.strip("'"))
    found: dict[str, dict[str, Any]] = yaml.safe_load(text)["services"]
    return found


def tasks() -> dict[str, dict[str, Any]]:
    return {name: service for name, service in services().items() if name != "train"}


def test_each_container_learns_from_its_environment_which_task_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for name, service in tasks().items():
        monkeypatch.setenv("TF_CONFIG", service["environment"]["TF_CONFIG"])
        job, task = own_task()
        host, _, port = read_environment()[job][task].rpartition(":")
        assert (host, port) == (name, "23450")  # other containers reach it by the name of its service
        found.append((job, task))
    assert found == [("ps", 0), ("ps", 1), ("worker", 0), ("worker", 1)]
    monkeypatch.setenv("TF_CONFIG", services()["train"]["environment"]["TF_CONFIG"])
    assert {job: len(addresses) for job, addresses in read_environment().items()} == {"ps": 2, "worker": 2}


def test_containers_run_commands_of_the_package() -> None:
    (entry,) = instructions("ENTRYPOINT")
    assert json.loads(entry) == ["tfw2v"]
    for service in tasks().values():
        parsed = cli.parse_arguments(service["command"])
        assert (parsed.command, parsed.allow_network) == ("server", True)
    train = services()["train"]
    settings = cli.parse_arguments(train["command"])
    assert (settings.cluster, settings.allow_network, settings.resume) == ("env", True, True)
    (volume,) = train["volumes"]
    for path in (settings.corpus, settings.output, settings.checkpoint_dir):
        assert Path(volume.rpartition(":")[2]) in Path(path).parents
    assert train["depends_on"] == {name: {"condition": "service_healthy"} for name in tasks()}


def test_the_health_check_is_a_command_of_the_package() -> None:
    program, *arguments = json.loads(re.findall(r"CMD (\[.*\])", instructions("HEALTHCHECK")[0])[0])
    assert program == "tfw2v"
    assert cli.parse_arguments(arguments).check


def test_containers_have_few_rights_and_no_port_on_the_machine() -> None:
    networks = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf8"))["networks"]
    assert networks == {"tasks": {"internal": True}}
    for service in services().values():
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["read_only"] is True
        assert service["networks"] == ["tasks"]
        assert not {"ports", "privileged", "network_mode", "pid"} & service.keys()
        assert service["pull_policy"] == "never"


def test_the_image_runs_as_a_user_without_rights() -> None:
    user = instructions("USER")[-1]
    assert user == "10001:10001"
    assert any(f"--uid {user.partition(':')[0]} " in command for command in instructions("RUN"))
    assert services()["train"]["user"] == f"${{TFW2V_USER:-{user}}}"


def test_what_the_image_copies_is_there_and_not_ignored() -> None:
    copied = [name for line in instructions("COPY") if "--from" not in line for name in line.split()[:-1]]
    lines = (FOLDER / "Dockerfile.dockerignore").read_text(encoding="utf8").splitlines()
    kept = {line.removeprefix("!") for line in lines if line.startswith("!")}
    assert set(copied) == kept
    for name in copied:
        assert (ROOT / name).exists()


def test_the_image_replaces_the_requirement_of_tensorflow() -> None:
    """The pattern has to fit pyproject.toml; otherwise the image would hold the libraries of GPUs."""
    (pattern,) = re.findall(r's/\\("[^/\\]+)/', DOCKERFILE)
    assert (ROOT / "pyproject.toml").read_text(encoding="utf8").count(pattern) == 1


def test_hadolint_finds_nothing() -> None:
    program = shutil.which("hadolint", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if program is None:
        pytest.skip("there is no program hadolint, which the extra `test` installs")
    done = subprocess.run([program, str(FOLDER / "Dockerfile")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
