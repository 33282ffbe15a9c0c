"""Trainings on another device than they would choose, for tests of trainings that say nothing of devices."""

from __future__ import annotations

from gensim_tfw2v.placement import choice
from gensim_tfw2v.placement.designs import DEFAULT_DESIGN
from gensim_tfw2v.placement.request import CorpusSize, TrainingOptions
from gensim_tfw2v.runtime.devices import Device, find_device


def train_on(name: str) -> None:
    """Have trainings of this process run on a device, except those that choose one or that only CPUs can train."""
    choose = choice.choose_device

    def chosen(size: CorpusSize, options: TrainingOptions) -> Device:
        has_choice = options.device is None and options.distribution == DEFAULT_DESIGN and not options.reproducible
        return find_device(name) if has_choice else choose(size, options)

    choice.choose_device = chosen
