"""What the tests of logging share: event files read with TensorBoard's own reader, and small settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import metadata

from gensim_tfw2v import TensorBoardLog, TFWord2Vec
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.tensorboard.log_writer import LoggedTraining, LogWriter
from gensim_tfw2v.training.progress import EpochCounts, EpochProgress
from support.contract import SENTENCES

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


def writer_for(folder: Path, tables: ModelTables, every_seconds: float = 0) -> LogWriter:
    """Return a log writer of a made-up training."""
    model = TFWord2Vec(**SMALL)
    model.build_vocab(SENTENCES)
    options = TensorBoardLog(folder, every_seconds=every_seconds, pairs=[], probes=[], projector="none")
    training = LoggedTraining(settings=None, tables=lambda: tables, addresses=None)  # type: ignore[arg-type]
    return LogWriter(options, model.wv, {"sg": 1}, bytes, training)


def progress_with_tasks(words: int) -> EpochProgress:
    """Return progress of a cluster of two tasks."""
    tasks = {"worker-0": {"cpu_percent": 50.0 + words, "staleness": 2.0}, "ps-0": {"cpu_percent": 7.0}}
    counts = EpochCounts(words, words, words, loss=1.0, measured_pairs=1.0, seconds=words / 100)
    return EpochProgress(0, 1, 0.5, 0.02, counts, tasks=tasks)
