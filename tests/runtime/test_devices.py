"""Devices have the names that the argument takes, and those of other processes are none."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from gensim_tfw2v.runtime import devices as module
from gensim_tfw2v.runtime.devices import THE_CPU, Device, devices, find_device, kind_of
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

HERE = [("/device:CPU:0", "CPU"), ("/device:GPU:0", "GPU"), ("/device:GPU:1", "GPU"), ("/device:XLA_GPU:0", "XLA_GPU")]


def have(places: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let TensorFlow find devices with these names and types."""
    found = [SimpleNamespace(name=name, device_type=kind) for name, kind in places]
    monkeypatch.setattr(load_tensorflow().config, "list_logical_devices", lambda: found)


def test_devices_are_known_by_kind_and_number(monkeypatch: pytest.MonkeyPatch) -> None:
    have(HERE, monkeypatch)
    assert [(one.name, one.place) for one in devices()] == [
        ("cpu", "/CPU:0"),
        ("gpu:0", "/device:GPU:0"),
        ("gpu:1", "/device:GPU:1"),
    ]
    assert find_device("gpu") == find_device("gpu:0") == Device("gpu", 0, "/device:GPU:0")
    assert find_device("cpu") == find_device("cpu:0") == THE_CPU
    assert [kind_of(name) for name in ("cpu", "gpu", "gpu:1")] == ["cpu", "gpu", "gpu"]


def test_a_device_that_is_not_there_is_an_error_that_lists_all(monkeypatch: pytest.MonkeyPatch) -> None:
    have(HERE, monkeypatch)
    with pytest.raises(ValueError, match=r"device='gpu:2' is not there; choose one of 'cpu', 'gpu:0', 'gpu:1'$"):
        find_device("gpu:2")


def test_without_a_gpu_the_error_says_what_a_gpu_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    have(HERE[:1], monkeypatch)
    with pytest.raises(ValueError, match=r"choose one of 'cpu'; .*gensim-tfw2v\[gpu\]"):
        find_device("gpu")


def test_devices_of_a_clusters_tasks_are_not_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    own = "/job:chief/replica:0/task:0/device:"
    others = [(f"/job:worker/replica:0/task:0/device:{kind}:0", kind) for kind in ("CPU", "GPU")]
    have([(f"{own}CPU:0", "CPU"), (f"{own}GPU:0", "GPU"), *others], monkeypatch)
    tasks = SimpleNamespace(job_name="chief", task_index=0)
    monkeypatch.setattr(module, "server_definition", lambda: tasks)
    assert [one.place for one in devices()] == ["/CPU:0", f"{own}GPU:0"]
