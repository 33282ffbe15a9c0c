"""A model's arguments and its corpus → the device of this process that trains."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from gensim_tfw2v import tuning
from gensim_tfw2v.placement.designs import DEFAULT_DESIGN
from gensim_tfw2v.placement.request import CorpusSize, TrainingOptions
from gensim_tfw2v.runtime.devices import GPU, THE_CPU, Device, devices, find_device, kind_of
from gensim_tfw2v.steps.kernel import COMPILED, kernel

logger = logging.getLogger(__name__)


def check_device(arguments: Mapping[str, Any], has_cluster: bool) -> None:
    """Raise ValueError if a model's arguments ask for a GPU and for something that GPUs cannot do."""
    device = arguments["device"]
    if device is None or kind_of(device) != GPU:
        return
    if has_cluster:
        raise ValueError(
            f"{device=} trains in this process, and the tasks of cluster= train on their CPUs; leave one of them out"
        )
    if (name := arguments["distribution"]) != DEFAULT_DESIGN:
        raise ValueError(f"distribution={name!r} trains on CPUs, and device is {device!r}; leave one of them out")
    if arguments["reproducible"]:
        raise ValueError(
            f"reproducible=True cannot hold with {device=}: a GPU adds up numbers in any order; leave one of them out"
        )


def choose_device(size: CorpusSize, options: TrainingOptions) -> Device:
    """Return the device that trains in this process, and log its name.

    Raises
    ------
    ValueError
        If the user has chosen one that is not there.
    """
    found = _worthwhile_gpu(size, options) if options.device is None else find_device(options.device)
    logger.info("training runs on %s", found.name)
    return found


def _worthwhile_gpu(size: CorpusSize, options: TrainingOptions) -> Device:
    """Return the first GPU if plain steps train enough words for it, otherwise the CPU.

    A GPU runs plain steps only. Where compiled ones are, the CPU trains.
    """
    pairs_alone = options.skip_gram and options.negative > 0 and not options.tree
    fits = options.distribution == DEFAULT_DESIGN and not options.reproducible
    is_large = size.total_words * size.epochs >= tuning.LEAST_WORDS_FOR_GPU
    if not (pairs_alone and fits and is_large) or kernel().name == COMPILED:
        return THE_CPU
    return next((one for one in devices() if one.kind == GPU), THE_CPU)
