"""The devices of this process, and of connected tasks, that TensorFlow can run on; and the one an argument names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gensim_tfw2v.runtime.private_tensorflow import server_definition
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

CPU, GPU = "cpu", "gpu"
_KINDS = (CPU, GPU)


@dataclass(frozen=True)
class Device:
    """A device that tables can be on and steps can run on."""

    kind: str = CPU  # one of `_KINDS`
    number: int = 0
    place: str = "/CPU:0"  # TensorFlow's name

    @property
    def name(self) -> str:
        """The name by which the argument `device` knows it, with its number unless this is the first CPU."""
        return CPU if (self.kind, self.number) == (CPU, 0) else f"{self.kind}:{self.number}"


THE_CPU = Device()


def kind_of(name: str) -> str:
    """Return the kind of device that the argument `device` names."""
    return kind_and_number(name)[0]


def kind_and_number(name: str) -> tuple[str, int]:
    """Return the kind of device that the argument `device` names, and its number, from 0."""
    kind, _, number = name.partition(":")
    return kind, int(number or 0)


def devices() -> list[Device]:
    """Return the devices of this process, CPUs first."""
    tf = load_tensorflow()
    found = [one for one in tf.config.list_logical_devices() if _is_here(one.name)]
    of_kind = {kind: [one.name for one in found if one.device_type == kind.upper()] for kind in _KINDS}
    return [
        THE_CPU if (kind, number) == (CPU, 0) else Device(kind, number, place)
        for kind, places in of_kind.items()
        for number, place in enumerate(places)
    ]


def find_device(name: str) -> Device:
    """Return the device that the argument `device` names; raise ValueError that lists all if there is none."""
    kind, number = kind_and_number(name)
    found = devices()
    for one in found:
        if (one.kind, one.number) == (kind, number):
            return one
    hint = ""
    if kind == GPU and not any(one.kind == GPU for one in found):
        hint = (
            "; a GPU of NVIDIA needs its driver, and CUDA, which the extra gensim-tfw2v[gpu] adds: pip install "
            "'.[gpu]' in a clone"
        )
    raise ValueError(f"device={name!r} is not there; choose one of {', '.join(repr(one.name) for one in found)}{hint}")


def find_device_of_tasks(name: str, tasks: Mapping[str, str]) -> Device:
    """Return the device of each task that the argument `device` names, with a place within the task.

    Parameters
    ----------
    tasks : mapping
        TensorFlow's names of connected tasks, such as "/job:worker/replica:0/task:0", by our own.

    Raises
    ------
    ValueError
        If a task has no such device. It names all of these.
    """
    tf = load_tensorflow()
    kind, number = kind_and_number(name)
    place = f"/device:{kind.upper()}:{number}"
    found = {one.name for one in tf.config.list_logical_devices()}
    if without := [own for own, task in tasks.items() if f"{task}{place}" not in found]:
        raise ValueError(
            f"device={name!r} is not there on {', '.join(without)}; a worker has a GPU if it is started with --gpu N, "
            "or with a GPU's number in CUDA_VISIBLE_DEVICES"
        )
    return THE_CPU if (kind, number) == (CPU, 0) else Device(kind, number, place)


def _is_here(place: str) -> bool:
    """Return whether TensorFlow's name of a device belongs to this process, which may be connected to tasks."""
    if "/job:" not in place:
        return True
    tasks = server_definition()
    return tasks is not None and f"/job:{tasks.job_name}/replica:0/task:{tasks.task_index}/" in place
