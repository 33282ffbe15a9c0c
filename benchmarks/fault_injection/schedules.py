"""Random schedules of faults: which tasks a training has, and what happens to them at which moments of it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from machines.processes import COORDINATOR

KILL, STOP, CUT, SLOW, ONE_WAY, APART = "kill", "stop", "cut", "slow", "one-way", "apart"
FULL, JOIN, LEAVE, SECOND, TAKE_OVER = "full-disk", "join", "leave", "second", "take-over"
LINKS = (CUT, SLOW, ONE_WAY, APART)  # actions that need a network of our own
GUEST, OTHER = "guest", "second"  # the worker that joins, and the second coordinator
DESIGNS: dict[str, dict[str, Any]] = {
    "downpour": {"epochs": 3, "batch_words": 4000},
    "synchronous": {"epochs": 3, "batch_words": 4000},
    "averaging": {"epochs": 3, "round_words": 40_000},
    "partition": {"epochs": 3, "batch_words": 4000},
    "columns": {"epochs": 2, "batch_words": 4000},
    "lbfgs": {"epochs": 6, "batch_words": 15_000},
}
"""Names of designs → arguments that give an epoch of the planted corpus many blocks or some rounds."""

WITH_ROUNDS = ("synchronous", "averaging")
_JOINED = ("downpour", "synchronous")  # which workers join and leave; these also train with vectors on servers
_TASKS = ((1, 2), (2, 2))  # servers, workers
_ACTIONS = {KILL: 6, STOP: 6, CUT: 2, SLOW: 1, ONE_WAY: 2, APART: 1, FULL: 1, JOIN: 1, LEAVE: 1, SECOND: 1,
            TAKE_OVER: 1}  # fmt: skip
_STAGES = {"start": 1, "connect": 1, "call": 4, "round": 2, "checkpoint": 4, "recovery": 2, "restore": 1, "close": 2}
_OF_A_RESTART = ("recovery", "restore")  # stages that training reaches only if a server is lost
_LEAST_EVENTS, _MOST_EVENTS = 2, 6
_LEAST_LENGTH, _MOST_LENGTH = 0.1, 4.0  # of a stop, in cluster timeouts
_MOST_PAUSE = 0.6  # until a killed task is started again, in cluster timeouts


@dataclass(frozen=True)
class Moment:
    """When an event happens.

    Parameters
    ----------
    stage : str
        What training has to begin: "start" of the coordinator's process, "connect", "call" of a worker, "round",
        "checkpoint", "recovery" when servers are lost, "restore" of an earlier moment, "close".
    after : float
        Share of the words that must have been trained before.
    delay : float
        Seconds from then until the event.
    """

    stage: str
    after: float
    delay: float


@dataclass(frozen=True)
class Event:
    """What happens: an action, to whom, when, and after how many cluster timeouts it ends."""

    action: str
    victim: str  # a task's machine, the coordinator, or "" for what concerns none
    moment: Moment
    length: float
    peer: str = ""  # the machine from which "apart" separates the victim


@dataclass(frozen=True)
class Schedule:
    """A training and the events that disturb it."""

    name: str
    design: str
    servers: int
    workers: int
    on_servers: bool
    epochs: int
    seed: int
    events: tuple[Event, ...]

    @property
    def kind(self) -> tuple[str, int, int]:
        """Return what its undisturbed training has in common with it."""
        return self.design, self.servers, self.workers

    def undisturbed(self) -> Schedule:
        """Return the same training without events, and with all vectors in the model."""
        name = f"undisturbed-{self.design}-{self.servers}+{self.workers}"
        return replace(self, name=name, events=(), on_servers=False, seed=1)

    def without(self, number: int) -> Schedule:
        """Return the schedule without one of its events."""
        return replace(self, events=self.events[:number] + self.events[number + 1 :])

    def has(self, *actions: str) -> bool:
        """Return whether one of these actions is to happen."""
        return any(event.action in actions for event in self.events)

    def to_json(self) -> dict[str, Any]:
        """Return the schedule as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Schedule:
        """Return the schedule that JSON values are."""
        events = tuple(Event(**{**event, "moment": Moment(**event["moment"])}) for event in found["events"])
        return cls(**{**found, "events": events})


def draw(seed: str, number: int, designs: Sequence[str], left_out: Sequence[str]) -> Schedule:
    """Return the schedule of this number, which follows from the arguments alone.

    Parameters
    ----------
    left_out : sequence of str
        Actions that this machine cannot do.
    """
    chance = random.Random(f"{seed}/{number}/{','.join(designs)}")
    design = chance.choice(designs)
    servers, workers = chance.choice(_TASKS)
    weights = {action: weight for action, weight in _ACTIONS.items() if action not in left_out}
    if design not in _JOINED:
        weights = {action: weight for action, weight in weights.items() if action not in (JOIN, LEAVE)}
    machines = [f"ps{task}" for task in range(servers)] + [f"worker{task}" for task in range(workers)] + [COORDINATOR]
    drawn = [_event(chance, design, machines, weights) for _ in range(chance.randint(_LEAST_EVENTS, _MOST_EVENTS))]
    return Schedule(
        name=f"{seed}-{number}-{design}",
        design=design,
        servers=servers,
        workers=workers,
        on_servers=design in _JOINED and chance.random() < 0.3,
        epochs=DESIGNS[design]["epochs"],
        seed=chance.randrange(1, 1000),
        events=tuple(_with_cause(chance, drawn)),
    )


def _event(chance: random.Random, design: str, machines: Sequence[str], weights: Mapping[str, int]) -> Event:
    (action,) = chance.choices(list(weights), list(weights.values()))
    workers = [name for name in machines if name.startswith("worker")]
    victims = {JOIN: [GUEST], LEAVE: workers, FULL: [""], SECOND: [COORDINATOR], TAKE_OVER: [COORDINATOR]}
    victim = chance.choice(victims.get(action, list(machines)))
    peer = chance.choice([name for name in machines if name != victim]) if action == APART else ""
    length = _LEAST_LENGTH * (_MOST_LENGTH / _LEAST_LENGTH) ** chance.random()
    return Event(action, victim, _moment(chance, design), min(length, _MOST_PAUSE) if action == KILL else length, peer)


def _moment(chance: random.Random, design: str) -> Moment:
    stages = {stage: weight for stage, weight in _STAGES.items() if stage != "round" or design in WITH_ROUNDS}
    (stage,) = chance.choices(list(stages), list(stages.values()))
    is_first = stage in ("close", *_OF_A_RESTART) or (stage in ("start", "connect") and chance.random() < 0.6)
    most = chance.choice((0.0, 0.1, 0.1, 1.5))  # at once, within what has begun, or some time later
    return Moment(stage, 0.0 if is_first else round(chance.random(), 3), round(chance.uniform(0.0, most), 3))


def _with_cause(chance: random.Random, events: Sequence[Event]) -> list[Event]:
    """Return the events, with a killed server before those that wait for a recovery."""
    waits = [event.moment.stage in _OF_A_RESTART for event in events]
    kills = [event.action == KILL and event.victim.startswith("ps") for event in events]
    if not any(waits) or any(kill and not wait for kill, wait in zip(kills, waits, strict=True)):
        return list(events)
    cause = Event(KILL, "ps0", Moment("call", round(chance.uniform(0.1, 0.9), 3), 0.0), _LEAST_LENGTH)
    return [cause, *events][:_MOST_EVENTS]
