"""How state machines are run: by default few examples with a fixed seed, for a long search as many as a variable says.

`TFW2V_MACHINE_EXAMPLES=20000` gives each machine so many sequences of random steps instead, with another seed each
time.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import HypothesisException
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

_EXAMPLES = "TFW2V_MACHINE_EXAMPLES"
_MUTANT_EXAMPLES = 1000  # at most: the first failure ends the search


def run(machine: type[RuleBasedStateMachine], examples: int, steps: int) -> None:
    """Run a machine for some sequences of at most `steps` steps; raise the error of the shortest one that fails."""
    wanted = os.environ.get(_EXAMPLES)
    chosen = settings(
        max_examples=examples if wanted is None else int(wanted),
        stateful_step_count=steps,
        deadline=None,
        derandomize=wanted is None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(machine, settings=chosen)  # type: ignore[no-untyped-call]


def finds_a_failure(machine: type[RuleBasedStateMachine], steps: int) -> bool:
    """Return whether a machine fails, as it must with a mutant; no shorter failure is looked for."""
    chosen = settings(
        max_examples=_MUTANT_EXAMPLES,
        stateful_step_count=steps,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    try:
        run_state_machine_as_test(machine, settings=chosen)  # type: ignore[no-untyped-call]
    except HypothesisException:
        raise
    except Exception:  # an assertion's, or one of the package's own
        return True
    return False
