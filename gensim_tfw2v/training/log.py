"""The interface of a log of trainings, which packages above this one write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gensim_tfw2v.cluster.specification import Addresses
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.steps.settings import StepSettings
from gensim_tfw2v.training.progress import EpochPosition, ProgressObserver


@dataclass(frozen=True, kw_only=True)
class LoggedTraining:
    """The data of a training that a log can have before training begins."""

    settings: StepSettings  # of the steps whose graph is shown
    tables: Callable[[], ModelTables]  # returns a copy of the current tables, also during training
    addresses: Addresses | None  # of the cluster's tasks by job; None: this process trains
    folder: str | None = None  # of the log, if the training is resumed
    begun: Sequence[EpochPosition] = ()  # how far the epochs of a resumed training have come
    can_be_resumed: bool = False  # the training can be resumed if it ends early, and its log with it
    validation: Sequence[str] = ()  # the metrics that are measured after each epoch


class Log(ProgressObserver, AbstractContextManager["Log"], Protocol):
    """A log of one training, which receives its progress; it is entered before training and left at its end."""

    folder: Path


StartLog = Callable[[LoggedTraining], Log]
