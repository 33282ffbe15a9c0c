"""A training and the machines at hand → the tasks to start, and why."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from gensim_tfw2v.arguments.units import duration
from gensim_tfw2v.planning.machines import AVERAGING, DOWNPOUR, HERE, Layout, Machine
from gensim_tfw2v.planning.plan import Plan, plan_of
from gensim_tfw2v.planning.profiles import Profile
from gensim_tfw2v.planning.speed import LIMITS_OF_SERVERS
from gensim_tfw2v.planning.workload import Workload

_MOST_TASKS = 1024  # of each kind
_MOST_SERVERS_PER_WORKER = 4  # for the sake of speed alone
_CLEARLY_FASTER = 1.2  # a smaller gain is not worth more machines, nor a design that needs equal ones
_GROWTH = 1.5  # of the tasks that are tried, one after the other


@dataclass(frozen=True)
class Wish:
    """What the user has decided; None: the planner decides."""

    design: str | None = None
    workers: int | None = None
    servers: int | None = None
    batch_words: int | None = None
    host_cores: float | None = None  # of the one machine that has all tasks
    most_seconds: float = 24 * 3600.0

    @property
    def is_for_cluster(self) -> bool:
        """Whether there must be a cluster."""
        return any(value is not None for value in (self.design, self.workers, self.servers, self.host_cores))


@dataclass(frozen=True)
class Choice:
    """The plan to take, the reasons, and one machine beside it."""

    plan: Plan
    reasons: list[str]
    one_machine: Plan


def choose_plan(workload: Workload, machine: Machine, profile: Profile, wish: Wish) -> Choice:
    """Return the plan that fulfils a wish: one machine if it suffices, otherwise the smallest cluster in time."""

    def plan_with(design: str, workers: int, servers: int) -> Plan:
        layout = Layout(design, workers, servers, wish.batch_words, wish.host_cores)
        return plan_of(workload, machine, layout, profile)

    def cluster(design: str) -> Plan:
        return _smallest(partial(plan_with, design), wish)

    here = plan_of(workload, machine, Layout(HERE), profile)
    may_be_here = here.fits and not wish.is_for_cluster
    if may_be_here and here.seconds <= wish.most_seconds:
        return Choice(here, [f"one machine is enough: {duration(here.seconds)}, and no vectors travel"], here)
    if not here.fits:
        why_not_here = "one machine has not the memory"
    elif here.seconds > wish.most_seconds:
        why_not_here = f"one machine would take {duration(here.seconds)}"
    else:
        why_not_here = f"one machine would be enough: {duration(here.seconds)}"
    if wish.design is not None:
        return Choice(cluster(wish.design), [why_not_here, f"{wish.design} was asked for"], here)
    plan, reason = _better_design(cluster(DOWNPOUR), cluster(AVERAGING), wish)
    if may_be_here and plan.seconds > here.seconds / _CLEARLY_FASTER:
        best = f"{plan.layout.workers} workers would take {duration(plan.seconds)}"
        reason = f"one machine, because no cluster of such machines is clearly faster: {best}"
        return Choice(here, [why_not_here, reason], here)
    reasons = [why_not_here, reason]
    if wish.workers is None and plan.seconds <= wish.most_seconds:
        reasons.append(f"workers={plan.layout.workers} is the fewest that take at most {duration(wish.most_seconds)}")
    elif wish.workers is None:
        reasons.append(f"more workers gain little; the speed is limited by {plan.speed.bottleneck}")
    return Choice(plan, reasons, here)


def _better_design(downpour: Plan, averaging: Plan, wish: Wish) -> tuple[Plan, str]:
    if not averaging.fits:
        return downpour, "downpour, because no worker has memory for all tables twice, as averaging needs"
    are_in_time = max(downpour.seconds, averaging.seconds) <= wish.most_seconds
    gain = downpour.seconds / averaging.seconds
    if wish.workers is None and are_in_time:  # the machines and their time count
        gain *= downpour.layout.machines / averaging.layout.machines
    if downpour.fits and gain < _CLEARLY_FASTER:
        return downpour, "downpour, because no worker waits for another one, and averaging is not clearly faster"
    assert averaging.traffic is not None and downpour.traffic is not None
    return averaging, (
        f"averaging, because it takes {duration(averaging.seconds)} with {averaging.layout.machines} machines, and "
        f"downpour {duration(downpour.seconds)} with {downpour.layout.machines}: its workers send "
        f"{averaging.traffic.bytes_a_word:,.1f} bytes a word, and not {downpour.traffic.bytes_a_word:,.1f} bytes"
    )


def _smallest(plan_with: Callable[[int, int], Plan], wish: Wish) -> Plan:
    """Return the smallest cluster that is in time, or the smallest one that is nearly as fast as any."""
    if wish.workers is not None:
        return _with_servers(plan_with, wish.workers, wish.servers)
    plans: list[Plan] = []
    for workers in _counts():
        plans.append(_with_servers(plan_with, workers, wish.servers))
        if plans[-1].seconds <= wish.most_seconds:
            break
    else:
        fastest = max(plan.speed.words_a_second for plan in plans)
        return next(plan for plan in plans if plan.speed.words_a_second >= fastest / _CLEARLY_FASTER)
    # Some numbers were skipped before this one: the fewest workers in time are sought among them.
    best, late = plans[-1], math.ceil(plans[-1].layout.workers / _GROWTH) - 1
    while best.layout.workers - late > 1:
        middle = (late + best.layout.workers) // 2
        plan = _with_servers(plan_with, middle, wish.servers)
        if plan.seconds <= wish.most_seconds:
            best = plan
        else:
            late = middle
    return best


def _with_servers(plan_with: Callable[[int, int], Plan], workers: int, servers: int | None) -> Plan:
    """Return a plan with so many servers, or with the fewest that have the memory and do not limit the speed."""
    for count in _counts() if servers is None else [servers]:
        plan = plan_with(workers, count)
        is_slow = plan.speed.bottleneck in LIMITS_OF_SERVERS and count < _MOST_SERVERS_PER_WORKER * workers
        has_memory = "server" not in plan.tasks_over_memory
        if plan.layout.design == AVERAGING or (has_memory and not is_slow):  # averaging needs one and does not use it
            break
    return plan


def _counts() -> Iterator[int]:
    """Yield numbers of tasks, such as 1, 2, 3, 4, 6, 9, 13."""
    count = 1
    while count <= _MOST_TASKS:
        yield count
        count = max(count + 1, math.floor(count * _GROWTH))
