"""Objects that survive faults, under random steps: each is compared with a simple model after every step."""

from __future__ import annotations

import pytest
from hypothesis.stateful import RuleBasedStateMachine
from support.machines import run
from support.state_machines.blocks_of_workers import BlocksOfWorkers
from support.state_machines.checkpoint_folder import CheckpointFolders
from support.state_machines.joining_workers import JoiningWorkers
from support.state_machines.leases import Leases
from support.state_machines.limits import BlocksInFlight, Limits
from support.state_machines.membership import Membership

# Each machine, with how many sequences of at most so many steps run by default.
MACHINES: dict[type[RuleBasedStateMachine], tuple[int, int]] = {
    BlocksOfWorkers: (70, 30),
    CheckpointFolders: (50, 20),
    JoiningWorkers: (80, 30),
    Leases: (80, 30),
    Limits: (30, 30),
    BlocksInFlight: (30, 30),
    Membership: (60, 25),
}


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.__name__)
def test_objects_agree_with_their_model_under_random_steps(machine: type[RuleBasedStateMachine]) -> None:
    run(machine, *MACHINES[machine])
