"""What the tests of logging share: event files read with TensorBoard's own reader, and small settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import metadata

SMALL: dict[str, Any] = {"vector_size": 8, "min_count": 1, "workers": 1, "epochs": 3, "sg": 1}


def events_of(folder: Path) -> EventAccumulator:
    """Return all events of one run."""
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0, "tensors": 0})
    events.Reload()
    return events


def values_of(folder: Path, tag: str) -> list[float]:
    """Return the values of a curve."""
    return [point.value for point in events_of(folder).Scalars(tag)]


def text_of(folder: Path, tag: str) -> list[str]:
    """Return the texts of a panel, oldest first."""
    return [event.tensor_proto.string_val[0].decode() for event in events_of(folder).Tensors(tag)]


def hyperparameters_of(folder: Path) -> Any:
    """Return the hyper-parameters of one run by name, as TensorBoard's plugin reads them."""
    content = events_of(folder).summary_metadata[metadata.SESSION_START_INFO_TAG].plugin_data.content
    return metadata.parse_session_start_info_plugin_data(content).hparams
