"""A scenario → what its training comes to."""

from __future__ import annotations

from simulation.averaging import SimulatedAveraging
from simulation.downpour import SimulatedDownpour
from simulation.outcome import Outcome
from simulation.partition import SimulatedPartition
from simulation.scenario import AVERAGING, DOWNPOUR, PARTITION, SYNCHRONOUS, Scenario
from simulation.synchronous import SimulatedRounds
from simulation.training import SimulatedTraining

TRAININGS: dict[str, type[SimulatedTraining]] = {
    DOWNPOUR: SimulatedDownpour,
    SYNCHRONOUS: SimulatedRounds,
    AVERAGING: SimulatedAveraging,
    PARTITION: SimulatedPartition,
}


def simulate(scenario: Scenario) -> Outcome:
    """Return what a training comes to, or its first blocks if the scenario limits them."""
    return TRAININGS[scenario.design](scenario).run()
