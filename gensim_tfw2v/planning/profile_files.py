"""Profiles by name: those of `stored_profiles`, and the calibrated one, which is kept in the user's cache."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gensim_tfw2v.files.whole_files import written_file
from gensim_tfw2v.planning.profiles import Profile, RowCost, StepCost
from gensim_tfw2v.planning.stored_profiles import AMX, AVX2, STORED
from gensim_tfw2v.runtime.processor import multiplies_tiles, processor_name

CALIBRATED = "calibrated"
_FORMAT = "gensim_tfw2v costs 1"
_ADVICE = "measure anew with tfw2v plan --calibrate, or name a stored profile with --profile"


def profile_named(name: str | None) -> Profile:
    """Return a stored profile, or the calibrated one; by default that of this processor.

    Raise ValueError if there is no such profile, or if the calibrated one cannot be read.
    """
    if name is None:
        calibrated = read_calibrated() if calibrated_path().exists() else None
        if calibrated is not None and calibrated.processor == processor_name():
            return calibrated
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
        return _profile_in(found)
    except FileNotFoundError:
        raise ValueError(f"nothing is calibrated: {str(path)!r} is not there; {_ADVICE}") from None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"the profile {str(path)!r} cannot be read: {error}; {_ADVICE}") from error


def _profile_in(found: Mapping[str, Any]) -> Profile:
    values = dict(found)
    values["steps"] = {mode: StepCost(**cost) for mode, cost in values["steps"].items()}
    for task in ("worker", "server"):
        values[task] = RowCost(**values[task])
    profile = Profile(**values)
    for name, value in asdict(profile).items():
        _check(name, value)
    return profile


def _check(name: str, value: Any) -> None:
    """Raise ValueError unless all numbers of a profile are finite and none is negative."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            _check(f"{name}[{key!r}]", part)
    elif not isinstance(value, str) and not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{name} is {value!r}")
