"""An entry in a table of arguments. Checks, documentation and the command line are made from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gensim_tfw2v.arguments.rules import Rule

# Groups of flags, in the order of `tfw2v train --help`. The first also has flags of gensim's arguments.
LEARNING_FLAGS = "learning"
MEMORY_FLAGS = "memory"
CHECKPOINT_FLAGS = "checkpoints"
CLUSTER_FLAGS = "cluster"
TENSORBOARD_FLAGS = "TensorBoard"
TUNING_FLAGS = "tuning, best left alone"
FLAG_GROUPS = MEMORY_FLAGS, CHECKPOINT_FLAGS, CLUSTER_FLAGS, TENSORBOARD_FLAGS, TUNING_FLAGS


@dataclass(frozen=True)
class Flag:
    """How an argument appears on the command line of `tfw2v train`."""

    group: str
    metavar: str | None = None
    help: str | None = None  # if it differs from the argument's
    default: str | None = None  # as help shows it, if it differs from the argument's
    is_switch: bool = False  # --name sets True
    has_negation: bool = False  # --no-name sets False


def flag_of(name: str) -> str:
    """Return the flag of an argument."""
    return f"--{name.replace('_', '-')}"


@dataclass(frozen=True)
class Argument:
    """One of TFWord2Vec's own arguments, optional and keyword-only."""

    name: str
    default: Any
    type: str  # as in docstrings
    help: str  # begins with a capital letter and ends without a full stop
    default_help: str | None = None  # what the default means, if its value does not say so
    rule: Rule | None = None  # also checked by train(), for attributes may change; None: checked where it is used
    flag: Flag | None = None
    designs: tuple[str, ...] = ()  # the designs that have it; (): all trainings have it
    is_fixed_in_training: bool = False  # a change during train() has no effect until the next one
    is_saved: bool = True
    deprecated: str | None = None  # what a warning says to whoever sets it
