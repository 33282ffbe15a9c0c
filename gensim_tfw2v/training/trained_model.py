"""The interface by which training knows the model that it trains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.checkpoints.folder import Checkpoint
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.training.epoch import EpochPlan
from gensim_tfw2v.training.progress import EpochCounts


class TrainedModel(Protocol):
    """A model in training.

    Callbacks receive the user's model, and may change it between epochs. So nothing read here is kept for later, unless
    a method says so.
    """

    @property
    def for_callbacks(self) -> object:
        """The model that callbacks receive."""
        ...

    # -- settings --------------------------------------------------------------------------------------------------

    @property
    def epochs(self) -> int:
        """How many epochs are trained."""
        ...

    @property
    def trainings(self) -> int:
        """How many trainings the model has had before this one."""
        ...

    @property
    def measures_every_loss(self) -> bool:
        """Whether the loss of every batch is measured, and not only of some batches."""
        ...

    @property
    def max_recoveries(self) -> int:
        """How often the training continues after tables were lost."""
        ...

    @property
    def recovery_timeout(self) -> float:
        """How many seconds the training waits for lost tasks."""
        ...

    def learning_rate(self, epoch: int, fraction: float) -> float:
        """Return the learning rate at a fraction of an epoch."""
        ...

    def fixed_settings(self) -> Mapping[str, Any]:
        """Return the settings that a training reads once, at its beginning."""
        ...

    # -- words and tables ------------------------------------------------------------------------------------------

    @property
    def words(self) -> list[Any]:
        """The words; row i of a table belongs to word number i."""
        ...

    @property
    def has_tables(self) -> bool:
        """Whether the tables are in this process, and not on servers alone."""
        ...

    @property
    def has_initial_tables(self) -> bool:
        """Whether tables that are on servers alone are untrained, so that servers can make them again."""
        ...

    def check_fits(self) -> None:
        """Raise RuntimeError if what training needs is missing, or does not fit the vocabulary."""
        ...

    def check_rows(self, words: int) -> None:
        """Raise RuntimeError if a table is missing, or has too few rows for `words` words."""
        ...

    def tables(self) -> ModelTables:
        """Return the tables themselves, to be written to."""
        ...

    def use_new_tables(self) -> None:
        """Drop everything derived from the former values of the tables, which have been written to."""
        ...

    # -- checkpoints -----------------------------------------------------------------------------------------------

    def attributes(self) -> dict[str, Any]:
        """Return, as JSON values, what a checkpoint keeps of the model besides arrays."""
        ...

    def vocabulary_arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return the arrays of the vocabulary, which training leaves as they are."""
        ...

    @property
    def lock_factors(self) -> Float32Array:
        """A copy of the factors of the input rows' learning rates, or the factors themselves."""
        ...

    def read_tables(self, checkpoint: Checkpoint) -> None:
        """Copy a checkpoint's tables into the model's."""
        ...

    # -- results ---------------------------------------------------------------------------------------------------

    @property
    def training_seconds(self) -> float:
        """How long the model has been trained, all trainings together."""
        ...

    def set_finished(self, epochs: Sequence[EpochCounts], seconds_before: float) -> None:
        """Record that these epochs, and no others, of this training are finished.

        Parameters
        ----------
        seconds_before : float
            How long earlier trainings took.
        """
        ...

    def add_finished(self, plan: EpochPlan, counts: EpochCounts, from_file: bool) -> None:
        """Record that an epoch is finished, and log it; the corpus may be a file."""
        ...

    def set_validation(self, values: Mapping[str, Sequence[float]]) -> None:
        """Record the values of each validation metric after the finished epochs of this training."""
        ...

    def end_after(self, epochs: int) -> None:
        """Record that training ends early, after so many epochs."""
        ...

    def set_report(self, report: dict[str, Any] | None) -> None:
        """Record what the training has used so far, None if nothing measures that."""
        ...
