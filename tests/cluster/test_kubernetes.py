"""cluster/kubernetes/: the overlays fit together, and run commands that the package has."""

from __future__ import annotations

import functools
import json
import operator
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gensim_tfw2v.cli import main as cli
from gensim_tfw2v.cluster.specification import own_task, read_environment

FOLDER = Path(__file__).parents[2] / "cluster" / "kubernetes"
OVERLAYS = ["small", "large"]
Manifest = dict[str, Any]
# The fields of a JobSet that the manifests use, as its API names them (jobset.x-k8s.io/v1alpha2).
JOBSET_FIELDS = {
    "network": {"enableDNSHostnames", "publishNotReadyAddresses", "subdomain"},
    "successPolicy": {"operator", "targetReplicatedJobs"},
    "failurePolicy": {"maxRestarts"},
}
MEBIBYTES = {"Mi": 1, "Gi": 1024}


def built(overlay: str) -> list[Manifest]:
    """Return the manifests of an overlay: those of the base with its patches, and its ConfigMap."""
    folder = FOLDER / "overlays" / overlay
    settings = yaml.safe_load((folder / "kustomization.yaml").read_text())
    manifests: list[Manifest] = []
    for name in yaml.safe_load((FOLDER / "base" / "kustomization.yaml").read_text())["resources"]:
        manifests += yaml.safe_load_all((FOLDER / "base" / name).read_text())
    manifests = json.loads(json.dumps(manifests))  # a patch must not change all places with the same YAML anchor
    for patch in settings.get("patches", []):
        for operation in yaml.safe_load((folder / patch["path"]).read_text()):
            patch_with(operation, one(manifests, patch["target"]["kind"]))
    (config,) = settings["configMapGenerator"]
    data = {name: (folder / name).read_text() for name in config["files"]}
    return [*manifests, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": config["name"]}, "data": data}]


def patch_with(operation: dict[str, Any], manifest: Manifest) -> None:
    """Carry out an operation of a JSON patch."""
    *parents, last = (int(key) if key.isdigit() else key for key in operation["path"].split("/")[1:])
    place = functools.reduce(operator.getitem, parents, manifest)
    if operation["op"] == "add":
        assert last == "-"
        place.append(operation["value"])
    elif operation["op"] == "replace":
        assert place[last]
        place[last] = operation["value"]
    else:
        assert (operation["op"], place[last]) == ("test", operation["value"])


@pytest.fixture(scope="module", params=OVERLAYS)
def overlay(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def manifests(overlay: str) -> list[Manifest]:
    return built(overlay)


def one(manifests: list[Manifest], kind: str) -> Manifest:
    (found,) = (manifest for manifest in manifests if manifest["kind"] == kind)
    return found


def jobs(manifests: list[Manifest]) -> dict[str, Manifest]:
    """Return the Jobs of the JobSet by name."""
    return {job["name"]: job["template"]["spec"] for job in one(manifests, "JobSet")["spec"]["replicatedJobs"]}


def pods(manifests: list[Manifest]) -> dict[str, Manifest]:
    """Return the pods' templates by the name of their Job."""
    return {name: job["template"] for name, job in jobs(manifests).items()}


def containers(pod: Manifest) -> Iterator[Manifest]:
    yield from pod["spec"].get("initContainers", [])
    yield from pod["spec"]["containers"]


def addresses(manifests: list[Manifest]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads(one(manifests, "ConfigMap")["data"]["cluster.json"])
    return found


def variables(manifests: list[Manifest], container: Manifest, task: int) -> dict[str, str]:
    """Return a container's environment in the pod with this number."""
    found: dict[str, str] = {}
    for entry in container.get("env", []):
        source = entry.get("valueFrom", {})
        if "configMapKeyRef" in source:
            config = one(manifests, "ConfigMap")
            assert config["metadata"]["name"] == source["configMapKeyRef"]["name"]
            value = config["data"][source["configMapKeyRef"]["key"]]
        elif "fieldRef" in source:
            assert "job-completion-index" in source["fieldRef"]["fieldPath"]
            value = str(task)
        else:
            value = expanded(entry["value"], found)  # by variables that come before
        found[entry["name"]] = value
    return found


def expanded(text: str, values: dict[str, str]) -> str:
    """Return a text with each $(NAME) replaced, as Kubernetes does."""
    return re.sub(r"\$\((TFW2V_\w+)\)", lambda name: values[name[1]], text)


def commands(container: Manifest, values: dict[str, str]) -> Iterator[list[str]]:
    """Yield the command lines of tfw2v in a container: its own, those in a shell's program, and those of probes."""
    own = [*container["command"], *(expanded(text, values) for text in container.get("args", []))]
    if own[0] == "sh":
        program = re.sub(r"^ *#.*$", "", own[2], flags=re.MULTILINE)
        yield from (shlex.split(line)[1:] for line in re.findall(r"\btfw2v (?:server|cluster|train)[^;&\n]*", program))
    else:
        yield own[1:]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        if probe in container:
            yield container[probe]["exec"]["command"][1:]


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="there is no program kubectl, which builds overlays")
def test_kubectl_builds_the_same_manifests_with_the_image_of_the_overlay(
    overlay: str, manifests: list[Manifest]
) -> None:
    done = subprocess.run(["kubectl", "kustomize", FOLDER / "overlays" / overlay], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not re.search(r"image: tfw2v\b", done.stdout)
    found = list(yaml.safe_load_all(done.stdout.replace("registry.example.com/tfw2v:1", "tfw2v")))
    for manifest in manifests:
        other = one(found, manifest["kind"])
        assert other["metadata"]["name"] == manifest["metadata"]["name"]
        assert {**other, "metadata": None} == {**manifest, "metadata": None}
    assert len(found) == len(manifests)


def test_the_addresses_are_the_names_that_pods_get(manifests: list[Manifest]) -> None:
    service = one(manifests, "Service")
    subdomain = one(manifests, "JobSet")["spec"]["network"]["subdomain"]
    assert service["metadata"]["name"] == subdomain
    assert service["spec"]["clusterIP"] == "None"
    ((port, target),) = ((port["port"], port.get("targetPort", port["port"])) for port in service["spec"]["ports"])
    assert port == target
    name = one(manifests, "JobSet")["metadata"]["name"]
    assert service["spec"]["selector"] == {"jobset.sigs.k8s.io/jobset-name": name}
    expected = {
        job: [f"{name}-{job}-0-{task}.{subdomain}:{port}" for task in range(jobs(manifests)[job]["completions"])]
        for job in ("ps", "worker")
    }
    assert addresses(manifests) == expected


def test_all_pods_of_a_job_run_at_once_and_have_numbers(manifests: list[Manifest]) -> None:
    for job in jobs(manifests).values():
        assert job["completionMode"] == "Indexed"
        assert job["parallelism"] == job["completions"]


def test_each_task_learns_from_its_environment_which_one_it_is(
    manifests: list[Manifest], monkeypatch: pytest.MonkeyPatch
) -> None:
    for job in ("ps", "worker"):
        (container,) = pods(manifests)[job]["spec"]["containers"]
        for task in range(jobs(manifests)[job]["completions"]):
            monkeypatch.setenv("TF_CONFIG", variables(manifests, container, task)["TF_CONFIG"])
            assert own_task() == (job, task)
            assert read_environment() == addresses(manifests)
    for container in containers(pods(manifests)["coordinator"]):
        if "TF_CONFIG" in (values := variables(manifests, container, 0)):
            monkeypatch.setenv("TF_CONFIG", values["TF_CONFIG"])
            assert read_environment() == addresses(manifests)


def test_commands_and_probes_are_those_of_the_package(manifests: list[Manifest]) -> None:
    found = []
    for name, pod in pods(manifests).items():
        for container in containers(pod):
            for command in commands(container, variables(manifests, container, 0)):
                parsed = cli.parse_arguments(command)
                assert parsed.cluster in (None, "env")
                assert parsed.allow_network or parsed.check
                found.append((name, parsed.command))
    task = ["server"] * 4  # with three probes
    assert found == [
        *(("ps", command) for command in task),
        *(("worker", command) for command in task),
        ("coordinator", "cluster"),
        ("coordinator", "train"),
    ]


def test_the_coordinator_resumes_and_keeps_all_it_writes_on_the_volume(manifests: list[Manifest]) -> None:
    pod = pods(manifests)["coordinator"]["spec"]
    (container,) = pod["containers"]
    ((command,),) = [list(commands(container, variables(manifests, container, 0)))]
    settings = cli.parse_arguments(command)
    assert settings.resume
    claims = {volume["name"]: volume for volume in pod["volumes"] if "persistentVolumeClaim" in volume}
    (mount,) = (mount["mountPath"] for mount in container["volumeMounts"] if mount["name"] in claims)
    for path in (settings.corpus, settings.output, settings.checkpoint_dir):
        assert Path(mount) in Path(path).parents
    (claim,) = (volume["persistentVolumeClaim"]["claimName"] for volume in claims.values())
    assert claim == one(manifests, "PersistentVolumeClaim")["metadata"]["name"]


def test_only_pods_of_the_jobset_reach_its_ports(manifests: list[Manifest]) -> None:
    policy = one(manifests, "NetworkPolicy")["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    ours = policy["podSelector"]["matchLabels"]
    for pod in pods(manifests).values():
        assert ours.items() <= pod["metadata"]["labels"].items()
    (rule,) = policy["ingress"]
    assert rule["from"] == [{"podSelector": {"matchLabels": ours}}]
    port = one(manifests, "Service")["spec"]["ports"][0]["port"]
    assert [opened["port"] for opened in rule["ports"]] == [port]
    to_pods, to_names = policy["egress"]
    assert (to_pods["to"], to_pods["ports"]) == (rule["from"], rule["ports"])
    assert {opened["port"] for opened in to_names["ports"]} == {53}
    for job in ("ps", "worker"):
        (container,) = pods(manifests)[job]["spec"]["containers"]
        assert [opened["containerPort"] for opened in container["ports"]] == [port]


def test_pods_have_no_more_rights_than_the_restricted_standard_allows(manifests: list[Manifest]) -> None:
    assert one(manifests, "Namespace")["metadata"]["labels"] == {"pod-security.kubernetes.io/enforce": "restricted"}
    for pod in [*pods(manifests).values(), yaml.safe_load((FOLDER / "data-pod.yaml").read_text())]:
        spec = pod["spec"]
        assert spec["securityContext"]["runAsNonRoot"] and spec["securityContext"]["runAsUser"] > 0
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert spec["automountServiceAccountToken"] is False
        assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()
        for container in containers(pod):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }


def test_containers_have_limits_and_mount_volumes_that_are_there(manifests: list[Manifest]) -> None:
    for pod in pods(manifests).values():
        volumes = {volume["name"] for volume in pod["spec"]["volumes"]}
        for container in containers(pod):
            assert container["resources"]["requests"] == container["resources"]["limits"]
            assert {mount["name"] for mount in container.get("volumeMounts", [])} <= volumes


def test_an_overlay_says_what_it_takes(overlay: str, manifests: list[Manifest]) -> None:
    cores, mebibytes = 0, 0
    for name, pod in pods(manifests).items():
        (limits,) = (container["resources"]["limits"] for container in pod["spec"]["containers"])
        cores += jobs(manifests)[name]["completions"] * int(limits["cpu"])
        number, unit = int(limits["memory"][:-2]), limits["memory"][-2:]
        mebibytes += jobs(manifests)[name]["completions"] * number * MEBIBYTES[unit]
    gibibytes = mebibytes // 1024
    assert f"{cores} cores and {gibibytes} GiB" in (FOLDER / "overlays" / overlay / "kustomization.yaml").read_text()
    page = (FOLDER.parents[1] / "docs" / "how-to" / "kubernetes.md").read_text(encoding="utf8")
    (row,) = re.findall(rf"^\| `{overlay}` \| (\d+) \| (\d+) of .* \| (\d+) \| (\d+) GiB \|$", page, re.MULTILINE)
    tasks = [jobs(manifests)[job]["completions"] for job in ("ps", "worker")]
    assert [int(number) for number in row] == [*tasks, cores, gibibytes]


def test_a_jobset_has_fields_of_its_api_and_ends_with_its_coordinator(manifests: list[Manifest]) -> None:
    jobset = one(manifests, "JobSet")
    assert jobset["apiVersion"] == "jobset.x-k8s.io/v1alpha2"
    assert jobset["spec"].keys() == JOBSET_FIELDS.keys() | {"replicatedJobs"}
    for name, fields in JOBSET_FIELDS.items():
        assert jobset["spec"][name].keys() == fields
    assert jobset["spec"]["successPolicy"] == {"operator": "All", "targetReplicatedJobs": ["coordinator"]}
    for job in jobset["spec"]["replicatedJobs"]:
        assert job.keys() == {"name", "replicas", "template"}


def test_manifests_fit_kubernetes_schemas(manifests: list[Manifest]) -> None:
    validation = pytest.importorskip("kubernetes_validate", reason="needs kubernetes-validate, of the extra `test`")
    as_jobs = [
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": job}
        for name, job in jobs(manifests).items()
    ]
    of_kubernetes = [manifest for manifest in manifests if manifest["kind"] != "JobSet"]
    data_pod = yaml.safe_load((FOLDER / "data-pod.yaml").read_text())
    for manifest in [*of_kubernetes, *as_jobs, data_pod]:
        validation.validate(manifest, validation.latest_version(), strict=True)
