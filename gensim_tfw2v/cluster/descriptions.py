"""Tasks' descriptions of themselves: read, and compared with this process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.version import __version__


def description_in(answer: bytes, task: str) -> dict[str, Any]:
    """Return the description that a task has sent; if it is none, raise a ClusterError that names the task."""
    try:
        found = json.loads(answer)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not {"package", "tensorflow"} <= found.keys():
        raise ClusterError(f"{task} does not answer as a task of this package does; start it with `tfw2v server`")
    return found


def checked_cores(described: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Return how many cores of each task train a block; raise ClusterError if a task has other versions than this one.

    A worker on a server of the user's own may not say how many: it trains with one.
    """
    check_versions(described)
    said = {name: found.get("cores") for name, found in described.items()}
    return {name: cores if isinstance(cores, int) and cores > 0 else 1 for name, cores in said.items()}


def check_versions(described: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise ClusterError naming the tasks whose TensorFlow or package has another version than this process."""
    own = {"package": __version__, "tensorflow": load_tensorflow().__version__}
    wrong = [
        f"{task} has {name} {found[name]}"
        for task, found in described.items()
        for name in own
        if found[name] != own[name]
    ]
    if wrong:
        raise ClusterError(
            f"this process has gensim_tfw2v {own['package']} and tensorflow {own['tensorflow']}, but "
            f"{', '.join(wrong)}; "
            "install the same versions everywhere"
        )
