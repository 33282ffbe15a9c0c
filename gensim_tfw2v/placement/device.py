"""A model's arguments and its corpus → the device that trains: one of this process, or one of each worker."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gensim_tfw2v import tuning
from gensim_tfw2v.placement.designs import DESIGNS, Place
from gensim_tfw2v.placement.request import CorpusSize, TrainingOptions
from gensim_tfw2v.runtime.devices import GPU, THE_CPU, Device, devices, find_device, find_device_of_tasks, kind_of
from gensim_tfw2v.steps.kernel import COMPILED, kernel

if TYPE_CHECKING:
    from gensim_tfw2v.cluster.connection import Connection

logger = logging.getLogger(__name__)


def check_device(arguments: Mapping[str, Any], has_cluster: bool) -> None:
    """Raise ValueError if a model's arguments ask for a GPU and for something that GPUs cannot do."""
    device = arguments["device"]
    if device is None or kind_of(device) != GPU:
        return
    _check_design(arguments["distribution"], Place.CLUSTER if has_cluster else Place.HERE, device)
    if (most := arguments["max_workers"]) is not None:
        raise ValueError(
            f"max_workers={most} lets workers join that may have no GPU, and device is {device!r}; leave one out"
        )
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


def choose_worker_device(connection: Connection, options: TrainingOptions) -> Device:
    """Return the device of each worker that trains, and log its name: the CPU, unless the user has chosen another.

    Raises
    ------
    ValueError
        If a worker lacks the one that the user has chosen, or the design does not train there.
    """
    if options.device is None:
        return THE_CPU
    found = find_device_of_tasks(options.device, connection.tensorflow_names("worker"))
    if found != THE_CPU:
        _check_design(options.distribution, Place.CLUSTER, options.device)
    logger.info("training runs on %s of each worker", found.name)
    return found


def _check_design(name: str, place: Place, device: str) -> None:
    if place not in DESIGNS[name].gpus:
        raise ValueError(f"distribution={name!r} trains on CPUs, and device is {device!r}; leave one of them out")


def _worthwhile_gpu(size: CorpusSize, options: TrainingOptions) -> Device:
    """Return the first GPU if plain steps train enough words for it, otherwise the CPU.

    A GPU runs plain steps only. Where compiled ones are, the CPU trains.
    """
    pairs_alone = options.skip_gram and options.negative > 0 and not options.tree
    fits = Place.HERE in DESIGNS[options.distribution].gpus and not options.reproducible
    is_large = size.total_words * size.epochs >= tuning.LEAST_WORDS_FOR_GPU
    if not (pairs_alone and fits and is_large) or kernel().name == COMPILED:
        return THE_CPU
    return next((one for one in devices() if one.kind == GPU), THE_CPU)
