"""The devices of this process that TensorFlow can run on, and the one that an argument names."""

from __future__ import annotations

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
    return name.partition(":")[0]


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
    kind, _, number = name.partition(":")
    wanted = kind, int(number or 0)
    found = devices()
    for one in found:
        if (one.kind, one.number) == wanted:
            return one
    hint = ""
    if kind == GPU and not any(one.kind == GPU for one in found):
        hint = "; a GPU of NVIDIA needs its driver and CUDA, which pip install 'gensim-tfw2v[gpu]' adds"
    raise ValueError(f"device={name!r} is not there; choose one of {', '.join(repr(one.name) for one in found)}{hint}")


def _is_here(place: str) -> bool:
    """Return whether TensorFlow's name of a device belongs to this process, which may be connected to tasks."""
    if "/job:" not in place:
        return True
    tasks = server_definition()
    return tasks is not None and f"/job:{tasks.job_name}/replica:0/task:{tasks.task_index}/" in place
