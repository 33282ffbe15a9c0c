"""A model and a checkpoint → where the model's training resumes."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from gensim.models import Word2Vec

from gensim_tfw2v.checkpoints.folder import Checkpoint, CheckpointFolder
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.model.arguments import core_count, is_left_open, plain_arguments, rule_of
from gensim_tfw2v.model.checkpoint_content import (
    check_same,
    check_words,
    model_in,
    other_setting,
    read_tables,
    states_in,
)
from gensim_tfw2v.model.own_arguments import OWN_ARGUMENTS
from gensim_tfw2v.model.results import record_validation
from gensim_tfw2v.model.tables import set_matrix, set_states
from gensim_tfw2v.model.training_plan import TrainArguments
from gensim_tfw2v.placement.choice import free_left_tables
from gensim_tfw2v.placement.contract import TABLES
from gensim_tfw2v.training.state import (
    Beginning,
    TrainingState,
    check_folder,
    epochs_in,
    state_in,
    usable,
    with_noted_epochs,
)
from gensim_tfw2v.training.validation import best_tables_in

_Model = TypeVar("_Model")

logger = logging.getLogger(__name__)

# Arguments that `resume()` takes. Its `checkpoint_dir` is the folder to resume from, and to write checkpoints to.
MAY_CHANGE = frozenset(
    ("workers", *(argument.name for argument in OWN_ARGUMENTS if not argument.is_fixed_in_training))
) - {"checkpoint_dir", "checkpoints", "cache"}


@contextmanager
def where_to_begin(model: Word2Vec, arguments: TrainArguments) -> Iterator[Beginning]:
    """Yield where a training begins, and where it writes checkpoints.

    No other training can use the folder meanwhile. Raise an error if the folder cannot be used, if a checkpoint cannot
    hold the words, if the checkpoint is of another training than this one, or if a new training would replace one that
    is not finished.
    """
    resume = arguments.resume
    if model.checkpoint_dir is None:
        if resume:
            raise ValueError(f"resume={resume!r} needs a checkpoint_dir, and checkpoint_dir is None")
        yield Beginning()
        return
    check_folder(model.checkpoint_dir)
    check_words(model)
    folder = CheckpointFolder(model.checkpoint_dir, model.keep_checkpoints)
    with usable(folder, resume) as newest:
        if not resume:
            yield Beginning(folder)
        elif newest is None:
            logger.info("checkpoint_dir %s has no checkpoint yet: training starts from the beginning", folder.path)
            yield Beginning(folder)
        else:
            state = state_in(newest)
            _check_weights(arguments.corpus.weights is not None, state, newest)
            _restore(model, newest, state, arguments)
            yield Beginning(folder, with_noted_epochs(state, folder), newest)


def _restore(model: Word2Vec, checkpoint: Checkpoint, state: TrainingState, arguments: TrainArguments) -> None:
    """Bring a training's tables and rates into the model; raise ValueError if another model was trained."""
    check_same(model, checkpoint)
    choices, before, totals = state.choices, checkpoint.content["model"], _totals_in(state)
    began_with: dict[str, Any] = {"alpha": choices.alpha, "min_alpha": choices.min_alpha, **totals}
    given = {name: getattr(arguments if name in totals else model, name) for name in began_with}
    differing = [
        name
        for name, value in began_with.items()
        if given[name] is not None and value is not None and given[name] != value
    ]
    if arguments.freeze != choices.settings.freeze:
        differing.append("freeze")
        given["freeze"], began_with["freeze"] = arguments.freeze, choices.settings.freeze
    for name in differing:
        raise other_setting(name, given[name], began_with[name], checkpoint, "the same corpus and the same settings")
    _check_epochs(model.epochs, checkpoint)
    checkpoint.check()
    read_tables(model, checkpoint)
    for name in ("alpha", "min_alpha", "train_count"):
        setattr(model, name, before[name])
    logger.info("training resumes from %s, after %i words", checkpoint.path, state.raw_words())


def _check_weights(are_given: bool, state: TrainingState, checkpoint: Checkpoint) -> None:
    began_with = state.choices.settings.weighted
    if are_given != began_with:
        raise ValueError(
            f"weights are {'given' if are_given else 'None'}, and the training in {checkpoint.path} began "
            f"{'with' if began_with else 'without'} weights; it can be resumed only with the same ones"
        )


def _totals_in(state: TrainingState) -> dict[str, int | None]:
    """Return the totals that `train()` was given: those of all sentences, also of those held out."""
    sentences, words = (0, 0) if state.validation is None else state.validation.held_out()
    examples, trained = state.choices.total_examples, state.choices.total_words
    return {
        "total_examples": None if examples is None else examples + sentences,
        "total_words": None if trained is None else trained + words,
    }


def _check_epochs(epochs: int, checkpoint: Checkpoint) -> None:
    before = epochs_in(checkpoint)
    if epochs < before:
        raise ValueError(
            f"epochs is {epochs}, and the training in {checkpoint.path} was to have {before}; it can be resumed with "
            "as many or more"
        )


def resumed_model(
    cls: type[_Model], checkpoint_dir: str | os.PathLike[str], epochs: int | None, changes: Mapping[str, Any]
) -> tuple[_Model, Checkpoint | None]:
    """Return the model in a checkpoint, and the checkpoint to resume from; None if its training is finished."""
    _check_may_change(changes)
    checkpoint = Checkpoint(checkpoint_dir)
    state = state_in(checkpoint)
    settings = {"checkpoint_dir": checkpoint.path.parent, **plain_arguments(changes)}
    if "workers" in changes:
        settings["workers"] = core_count(changes["workers"], changes.get("cluster"))
    model: Any = model_in(cls, checkpoint, {**changes, **settings})
    model.alpha, model.min_alpha = state.choices.alpha, state.choices.min_alpha
    model.min_alpha_yet_reached = model.alpha  # gensim would warn of rates that rise again
    if (before := state.validation) is not None:
        sentences = before.share or before.path
        kept = {"validation": sentences, "early_stopping": before.early_stopping, "validation_every": before.every}
        vars(model).update({name: value for name, value in kept.items() if getattr(model, name) is None})
    if epochs is not None:
        model.epochs = rule_of("epochs").plain("epochs", epochs)
        _check_epochs(model.epochs, checkpoint)
    if state.is_finished(model.epochs) and not model.vectors_on_servers:
        read_tables(model, checkpoint)
        model.epoch_losses = [position.counts.mean_loss for position in state.epochs]
        if state.validation is not None:
            record_validation(model, state.validation.of_all(len(state.epochs)))
            if state.validation.ends_with_earlier(len(state.epochs)):
                best = best_tables_in(checkpoint)
                for name in best.keys() & TABLES:
                    set_matrix(model, name, best[name])
                set_states(model, states_in(best, best.__getitem__))
        model._clear_post_train()  # what follows from the tables
        model.alpha, model.min_alpha = (checkpoint.content["model"][name] for name in ("alpha", "min_alpha"))
        model.train_count += 1
        if model.cluster is not None:
            _free_left_tables(model, state)
        return model, None
    if state.validation is not None and model.validation is None:
        raise ValueError(
            f"the training in {checkpoint.path} is validated on an iterable of sentences, which a checkpoint does "
            "not hold; give it again as validation="
        )
    return model, checkpoint


def arguments_to_resume(model: Word2Vec, checkpoint: Checkpoint) -> dict[str, Any]:
    """Return the arguments with which `train()` resumes the training of a resumed model from its checkpoint."""
    state = state_in(checkpoint)
    return {
        **_totals_in(state),
        "epochs": model.epochs,
        "compute_loss": model.compute_loss,
        "freeze": state.choices.settings.freeze,
        "resume": checkpoint.path,
    }


def _free_left_tables(model: Word2Vec, state: TrainingState) -> None:
    """Free the tables of a finished training that was killed before it could; the cluster may no longer exist."""
    try:
        free_left_tables(model.cluster, bool(model.allow_network), state.placement)
    except ClusterError as error:
        logger.warning("tables that the finished training may have left on its cluster are not freed: %s", error)


def _check_may_change(changes: Mapping[str, Any]) -> None:
    for name in changes:
        if name not in MAY_CHANGE:
            raise TypeError(
                f"resume() takes no argument {name!r}; a training resumes with the settings with which it began. These "
                f"may change: {', '.join(sorted(MAY_CHANGE))}"
            )


def check_settings(settings: Mapping[str, Any], checkpoint: Checkpoint) -> None:
    """Raise ValueError that names the first argument of the constructor whose value differs from a training's."""
    choices, before = state_in(checkpoint).choices, checkpoint.content["model"]
    subwords = checkpoint.content.get("subwords", {})
    began_with = {**before, **subwords, "alpha": choices.alpha, "min_alpha": choices.min_alpha}
    began_with["dm"] = int(not before["sg"])  # of a model with documents
    for name, value in settings.items():
        is_known = name in began_with and name not in MAY_CHANGE and name != "epochs"
        if is_known and not is_left_open(name, value) and value != began_with[name]:
            raise other_setting(name, value, began_with[name], checkpoint)
