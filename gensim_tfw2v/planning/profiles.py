"""What training costs on kinds of processors: profiles that come with the package, and the calibrated one.

docs/how-it-works/planning.md says how each stored profile was measured.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gensim_tfw2v.files.whole_files import written_file
from gensim_tfw2v.runtime.processor import multiplies_tiles, processor_name

# The models that can be planned: name → skip-gram, hierarchical softmax in place of negative sampling.
MODES = {"sg-neg": (True, False), "cbow-neg": (False, False), "sg-hs": (True, True), "cbow-hs": (False, True)}
CALIBRATED = "calibrated"
_FORMAT = "gensim_tfw2v costs 1"
_ADVICE = "measure anew with tfw2v plan --calibrate, or name a stored profile with --profile"


@dataclass(frozen=True)
class StepCost:
    """Nanoseconds that a core takes to make and train a token: a fixed part, and one for each number of a vector."""

    fixed: float
    of_a_number: float


@dataclass(frozen=True)
class RowCost:
    """What a task computes to send and receive rows, in addition to steps."""

    nanoseconds_a_byte: float
    milliseconds_a_block: float


@dataclass(frozen=True)
class Profile:
    """The costs of training on one kind of processor."""

    processor: str
    steps: Mapping[str, StepCost]  # by mode
    worker: RowCost
    server: RowCost  # of all servers, for each block with each of them
    coordinator_nanoseconds_a_word: float
    coordinator_milliseconds_a_block: float
    counting_nanoseconds_a_word: float  # of a core while a vocabulary is built
    start_seconds: float  # of importing TensorFlow and making graphs
    memory_bytes_a_second: float  # that a machine copies


AMX = Profile(
    processor="Intel Xeon with AVX-512 and AMX",
    steps={
        "sg-neg": StepCost(170.0, 4.56),
        "cbow-neg": StepCost(127.0, 4.51),
        "sg-hs": StepCost(449.0, 13.62),
        "cbow-hs": StepCost(290.0, 8.10),
    },
    worker=RowCost(4.0, 20.0),
    server=RowCost(1.4, 3.0),
    coordinator_nanoseconds_a_word=100.0,
    coordinator_milliseconds_a_block=4.0,
    counting_nanoseconds_a_word=160.0,
    start_seconds=2.0,
    memory_bytes_a_second=8e9,
)
AVX2 = Profile(
    processor="AMD EPYC with AVX2",
    steps={
        "sg-neg": StepCost(558.0, 6.49),
        "cbow-neg": StepCost(352.0, 4.79),
        "sg-hs": StepCost(1145.0, 13.28),
        "cbow-hs": StepCost(929.0, 5.67),
    },
    worker=RowCost(8.1, 20.0),
    server=RowCost(2.4, 2.0),
    coordinator_nanoseconds_a_word=100.0,
    coordinator_milliseconds_a_block=4.0,
    counting_nanoseconds_a_word=220.0,
    start_seconds=4.0,
    memory_bytes_a_second=8e9,
)
STORED = {"amx": AMX, "avx2": AVX2}


def profile_named(name: str | None) -> Profile:
    """Return a stored profile, or the calibrated one; by default that of this processor.

    Raise ValueError if there is no such profile, or if the calibrated one cannot be read.
    """
    if name is None:
        if calibrated_path().exists() and (found := read_calibrated()).processor == processor_name():
            return found
        return nearest_stored()
    if name == CALIBRATED:
        return read_calibrated()
    if name not in STORED:
        raise ValueError(f"there is no profile {name!r}; choose {', '.join([*STORED, CALIBRATED])}")
    return STORED[name]


def nearest_stored() -> Profile:
    """Return the stored profile of the processor that is most like this one."""
    return AMX if multiplies_tiles() else AVX2


def calibrated_path() -> Path:
    """Return where the calibrated profile is kept, in the user's folder for caches."""
    folder = os.environ.get("XDG_CACHE_HOME", "")
    # The specification of XDG ignores a relative path.
    home = Path(folder) if os.path.isabs(folder) else Path.home() / ".cache"
    return home / "gensim_tfw2v" / "costs.json"


def write_calibrated(profile: Profile) -> Path:
    """Keep a calibrated profile, and return its file."""
    path = calibrated_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_file(path) as unfinished:
        unfinished.write_text(json.dumps({"format": _FORMAT, **asdict(profile)}, indent=1) + "\n", encoding="utf-8")
    return path


def read_calibrated() -> Profile:
    """Return the calibrated profile; raise ValueError that names its file if it cannot be read."""
    path = calibrated_path()
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found.pop("format", None) != _FORMAT:
            raise ValueError(f"it has not the format {_FORMAT!r}")
        steps = {mode: StepCost(**cost) for mode, cost in found["steps"].items()}
        rows = {task: RowCost(**found[task]) for task in ("worker", "server")}
        profile = Profile(**{**found, "steps": steps, **rows})
        for name, value in asdict(profile).items():
            _check(name, value)
        return profile
    except FileNotFoundError:
        raise ValueError(f"nothing is calibrated: {str(path)!r} is not there; {_ADVICE}") from None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"the profile {str(path)!r} cannot be read: {error}; {_ADVICE}") from error


def _check(name: str, value: Any) -> None:
    """Raise ValueError unless all numbers of a profile are finite and none is negative."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            _check(f"{name}[{key!r}]", part)
    elif not isinstance(value, str) and not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{name} is {value!r}")
