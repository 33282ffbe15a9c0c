"""What tasks of a design compute, in seconds of a core."""

from __future__ import annotations

from dataclasses import dataclass

from gensim_tfw2v.planning.profiles import Profile
from gensim_tfw2v.planning.speed import step_nanoseconds
from gensim_tfw2v.planning.workload import Workload


@dataclass(frozen=True)
class TaskCost:
    """Seconds of a core that a task of some kind takes."""

    word: float = 0.0  # raw word
    byte: float = 0.0  # of rows that it sends or receives
    block: float = 0.0  # call that trains a block, or another one of a round
    message: float = 0.0  # to or from one other task
    training: float = 0.0  # a whole training, spread over its blocks


@dataclass(frozen=True)
class Costs:
    """The costs of all kinds of tasks."""

    worker: TaskCost
    server: TaskCost
    coordinator: TaskCost
    merge: float = 0.0  # of the coordinator, for each number of each sub-model's input vectors


# Of the coordinator's merge: what it computed more for each further sub-model of nodes_partition, by the numbers of
# a table.
MERGE_SECONDS_A_NUMBER = 81e-9
# Assumed, not measured: what a task computes to send or receive a message of any size. It matters where a task has
# messages with hundreds of others.
ASSUMED_MESSAGE_SECONDS = 1e-4


def costs_of_profile(workload: Workload, profile: Profile) -> Costs:
    """Return the costs of a processor's profile, which are those of `tfw2v plan`."""
    word = step_nanoseconds(workload, profile) / 1e9
    ids = 0.0 if workload.encoded else profile.coordinator_nanoseconds_a_word / 1e9
    return Costs(
        worker=TaskCost(
            word,
            profile.worker.nanoseconds_a_byte / 1e9,
            profile.worker.milliseconds_a_block / 1e3,
            ASSUMED_MESSAGE_SECONDS,
        ),
        server=TaskCost(byte=profile.server.nanoseconds_a_byte / 1e9, block=profile.server.milliseconds_a_block / 1e3),
        coordinator=TaskCost(ids, block=profile.coordinator_milliseconds_a_block / 1e3),
        merge=MERGE_SECONDS_A_NUMBER,
    )
