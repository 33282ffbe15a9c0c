"""Jobs of Slurm: which tasks of a cluster they hold, as their environment describes them."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.slurm import (
    addresses_in_job,
    cores_of_task,
    expand_node_list,
    expand_task_counts,
    own_task_in_job,
)
from gensim_tfw2v.cluster.specification import addresses_of, coordinator_address, own_task

JOB = {"SLURM_JOB_ID": "42", "SLURM_JOB_NODELIST": "node[1-2]", "SLURM_TASKS_PER_NODE": "2,1"}
PORT = 10840  # of the first task on a node in job 42
NODE_LISTS = {
    "node1": ["node1"],
    "node1,node2": ["node1", "node2"],
    "node[1-3]": ["node1", "node2", "node3"],
    "node[08-10]": ["node08", "node09", "node10"],
    "node[01-02,7,099-100]": ["node01", "node02", "node7", "node099", "node100"],
    "gpu-a[1-2],login": ["gpu-a1", "gpu-a2", "login"],
    "r[0-1]n[09-10]": ["r0n09", "r0n10", "r1n09", "r1n10"],
}
# Names that go on after brackets, which older versions of Slurm refuse.
LATER_NODE_LISTS = {
    "gpu-a[1-2]-ib,login": ["gpu-a1-ib", "gpu-a2-ib", "login"],
    "a.b-c,[1-2]x": ["a.b-c", "1x", "2x"],
}


@pytest.mark.parametrize("text", NODE_LISTS | LATER_NODE_LISTS)
def test_short_names_of_nodes_are_expanded(text: str) -> None:
    assert expand_node_list(text) == (NODE_LISTS | LATER_NODE_LISTS)[text]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("scontrol") is None, reason="there is no program scontrol: apt-get install slurm-wlm")
@pytest.mark.parametrize("text", NODE_LISTS)
def test_slurm_expands_short_names_in_the_same_way(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    settings = tmp_path_factory.mktemp("slurm") / "slurm.conf"
    settings.write_text("ClusterName=none\nSlurmctldHost=localhost\n")
    done = subprocess.run(
        ["scontrol", "show", "hostnames", text], env={"SLURM_CONF": str(settings)}, capture_output=True, text=True
    )
    assert done.stdout.split() == NODE_LISTS[text], done.stderr


@pytest.mark.parametrize(
    "text", ["", "node[3-1]", "node[a]", "node[1", "node]1", "node[]", "a,,b", "node[[1]]", "n[1²]"]
)
def test_what_is_no_list_of_nodes_is_named(text: str) -> None:
    with pytest.raises(ValueError) as raised:
        expand_node_list(text)
    assert f"SLURM_JOB_NODELIST={text!r} is no list of nodes" in str(raised.value)


def test_counts_of_tasks_are_expanded() -> None:
    assert expand_task_counts("1") == [1]
    assert expand_task_counts("2(x3),1") == [2, 2, 2, 1]


@pytest.mark.parametrize("text", ["", "0", "two", "2(x", "2,,1", "2(3)", "-1"])
def test_what_is_no_list_of_counts_is_named(text: str) -> None:
    with pytest.raises(ValueError) as raised:
        expand_task_counts(text)
    assert f"SLURM_TASKS_PER_NODE={text!r} is no list of task counts" in str(raised.value)


def test_the_first_tasks_of_a_job_are_servers_and_the_others_workers() -> None:
    assert addresses_in_job(JOB) == {
        "ps": [f"node1:{PORT}"],
        "worker": [f"node1:{PORT + 1}", f"node2:{PORT}"],
    }
    assert addresses_in_job(JOB | {"TFW2V_PS": "2"}) == {
        "ps": [f"node1:{PORT}", f"node1:{PORT + 1}"],
        "worker": [f"node2:{PORT}"],
    }


def test_a_job_on_one_node_stays_on_loopback() -> None:
    job = JOB | {"SLURM_JOB_NODELIST": "node7", "SLURM_TASKS_PER_NODE": "2"}
    assert addresses_in_job(job) == {"ps": [f"127.0.0.1:{PORT}"], "worker": [f"127.0.0.1:{PORT + 1}"]}


def test_jobs_of_consecutive_numbers_have_ports_of_their_own_that_linux_gives_to_nobody_else() -> None:
    seen = set()
    for number in range(70_000, 71_000):
        job = JOB | {"SLURM_JOB_ID": str(number), "SLURM_JOB_NODELIST": "node1", "SLURM_TASKS_PER_NODE": "20"}
        tasks = addresses_in_job(job)
        ports = {int(address.rpartition(":")[2]) for address in tasks["ps"] + tasks["worker"]}
        assert not ports & seen
        seen |= ports
    assert min(seen) >= 1024
    assert max(seen) < 32768


def test_a_step_without_counts_has_one_task_and_does_not_fit_a_job_of_several_nodes() -> None:
    job = {name: value for name, value in JOB.items() if name != "SLURM_TASKS_PER_NODE"}
    with pytest.raises(ValueError, match="the job has 2 nodes, and SLURM_TASKS_PER_NODE='1' counts tasks on 1"):
        addresses_in_job(job)


def test_a_port_may_be_named() -> None:
    assert addresses_in_job(JOB | {"TFW2V_PORT": "23450"})["worker"] == ["node1:23451", "node2:23450"]


@pytest.mark.parametrize("distribution", ["block", "cyclic"])
def test_each_task_finds_its_own_address_however_slurm_numbers_tasks(distribution: str) -> None:
    """Rank 1 is on the first node with blocks, and on the second one in a cyclic distribution."""
    places = {"block": [(0, 0), (0, 1), (1, 0)], "cyclic": [(0, 0), (1, 0), (0, 1)]}[distribution]
    found = []
    for rank, (node, local) in enumerate(places):
        own = {"SLURM_STEP_ID": "0", "SLURM_NODEID": str(node), "SLURM_LOCALID": str(local), "SLURM_PROCID": str(rank)}
        job, task = own_task_in_job(JOB | own)
        assert addresses_in_job(JOB)[job][task] == f"node{node + 1}:{PORT + local}"
        found.append((job, task))
    assert sorted(found) == [("ps", 0), ("worker", 0), ("worker", 1)]


def test_a_process_that_srun_did_not_start_is_no_task() -> None:
    with pytest.raises(ClusterError, match="start it with `srun`"):
        own_task_in_job(JOB)


def test_a_task_has_as_many_cores_as_slurm_gives_it() -> None:
    assert cores_of_task(JOB) == 1
    assert cores_of_task(JOB | {"SLURM_CPUS_PER_TASK": "8"}) == 8


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"TFW2V_PS": "3"}, "TFW2V_PS=3 makes servers of all 3 tasks of the Slurm job"),
        ({"TFW2V_PS": "0"}, "TFW2V_PS='0' is not a whole number of 1 or more"),
        ({"TFW2V_PS": "one"}, "TFW2V_PS='one' is not a whole number"),
        ({"SLURM_JOB_ID": "4.2"}, "SLURM_JOB_ID='4.2' is not a whole number"),
        ({"TFW2V_PORT": "65535"}, "TFW2V_PORT=65535 leaves no ports for 2 tasks on a node"),
        ({"SLURM_TASKS_PER_NODE": "1"}, "SLURM_TASKS_PER_NODE='1' counts tasks on 1"),
        ({"SLURM_JOB_NODELIST": ""}, "this process is in no Slurm job: SLURM_JOB_NODELIST is not set"),
    ],
    ids=str,
)
def test_what_makes_no_cluster_is_named(changes: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError) as raised:
        addresses_in_job(JOB | changes)
    assert message in str(raised.value)


def test_the_class_takes_the_cluster_of_its_job(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in JOB.items():
        monkeypatch.setenv(name, value)
    assert addresses_of("slurm") == addresses_in_job(JOB)
    assert coordinator_address("slurm") is None
    with pytest.raises(ClusterError, match="`srun`"):
        own_task("slurm")
    with pytest.raises(ClusterError, match=rf"ps 0 at node1:{PORT} is on a network"):
        TFWord2Vec([["a", "b"]] * 50, min_count=1, cluster="slurm")
