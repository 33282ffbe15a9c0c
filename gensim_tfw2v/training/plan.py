"""The plan of a training: where it runs, its steps, its blocks, its learning rates."""

from __future__ import annotations

import logging
from dataclasses import replace

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.corpus.sources import Source
from gensim_tfw2v.placement.contract import Placement
from gensim_tfw2v.placement.request import PlacementChoice
from gensim_tfw2v.placement.row_states import with_states
from gensim_tfw2v.steps.settings import StepSettings
from gensim_tfw2v.training.choices import TrainingChoices
from gensim_tfw2v.training.epoch import EpochPlan
from gensim_tfw2v.training.trained_model import TrainedModel

logger = logging.getLogger(__name__)


class TrainingPlan:
    """The plan of one training.

    Parameters
    ----------
    model : TrainedModel
        Its settings are read once, apart from learning rates and the number of epochs, which a callback may change.
    choice : PlacementChoice
        Where to train.
    choices : TrainingChoices
        What else was chosen at the beginning.
    maker : BlockMaker
        Makes blocks by these choices.
    """

    def __init__(
        self, model: TrainedModel, choice: PlacementChoice, choices: TrainingChoices, maker: BlockMaker
    ) -> None:
        self._model = model
        self._in_use = dict(model.fixed_settings())
        self.choice, self.choices, self.maker = choice, choices, maker

    @property
    def settings(self) -> StepSettings:
        """The settings of the steps."""
        return self.choices.settings

    def placement(self, source: Source) -> Placement:
        """Return a placement that trains chunks of this corpus."""
        made = self.choice.make(self.settings, replace(self.maker, reader=source.reader))
        return with_states(made) if self.settings.have_states else made

    def epoch(self, number: int) -> EpochPlan:
        """Return the plan of an epoch."""
        self._warn_of_changes()
        model, choices = self._model, self.choices
        return EpochPlan(
            epoch=number,
            epochs=model.epochs,
            seed=(*choices.entropy, model.trainings, number),
            learning_rate_at=lambda fraction: model.learning_rate(number, choices.fall * fraction),
            total_examples=choices.total_examples,
            total_words=choices.total_words,
            exact_loss=model.measures_every_loss,
        )

    def _warn_of_changes(self) -> None:
        """Warn once of each setting that was changed during training."""
        now = self._model.fixed_settings()
        for name in [name for name, used in self._in_use.items() if now[name] != used]:
            logger.warning(
                "%s has been set to %r during train(), which continues with %r; the next train() uses the new value",
                name,
                now[name],
                self._in_use.pop(name),
            )
