"""A training and the machines at hand → the tasks to start, and why."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gensim_tfw2v.planning.machines import AVERAGING, DOWNPOUR, HERE, Layout, Machine
from gensim_tfw2v.planning.plan import Plan, plan_of
from gensim_tfw2v.planning.profiles import Profile
from gensim_tfw2v.planning.speed import LIMITS_OF_SERVERS
from gensim_tfw2v.planning.units import duration
from gensim_tfw2v.planning.workload import Workload

MOST_SECONDS = 24 * 3600.0
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
    most_seconds: float = MOST_SECONDS

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
    here = plan_of(workload, machine, Layout(HERE), profile)
    if not wish.is_for_cluster and here.fits and here.seconds <= wish.most_seconds:
        return Choice(here, [f"one machine is enough: {duration(here.seconds)}, and no vectors travel"], here)
    reasons = []
    if not here.fits:
        reasons.append("one machine has not the memory")
    elif here.seconds > wish.most_seconds:
        reasons.append(f"one machine would take {duration(here.seconds)}")
    else:
        reasons.append(f"one machine would be enough: {duration(here.seconds)}")
    if wish.design is not None:
        plan = _cluster(workload, machine, profile, wish, wish.design)
        return Choice(plan, [*reasons, f"{wish.design} was asked for"], here)
    downpour, averaging = (_cluster(workload, machine, profile, wish, design) for design in (DOWNPOUR, AVERAGING))
    plan, reason = _better_design(downpour, averaging, wish)
    if not wish.is_for_cluster and here.fits and plan.seconds > here.seconds / _CLEARLY_FASTER:
        best = f"{plan.layout.workers} workers would take {duration(plan.seconds)}"
        return Choice(
            here, [*reasons, f"one machine, because no cluster of such machines is clearly faster: {best}"], here
        )
    return Choice(plan, [*reasons, reason, *_reason_of_size(plan, wish)], here)


def _better_design(downpour: Plan, averaging: Plan, wish: Wish) -> tuple[Plan, str]:
    if not averaging.fits:
        return downpour, "downpour, because no worker has memory for all tables twice, as averaging needs"
    are_in_time = max(downpour.seconds, averaging.seconds) <= wish.most_seconds
    gain = downpour.seconds / averaging.seconds
    if wish.workers is None and are_in_time:  # the machines and their time count
        gain *= downpour.layout.machines / averaging.layout.machines
    if downpour.fits and gain < _CLEARLY_FASTER:
        return downpour, "downpour, because no worker waits for another one, and averaging is not clearly faster"
    return averaging, (
        f"averaging, because it takes {duration(averaging.seconds)} with {averaging.layout.machines} machines, and "
        f"downpour {duration(downpour.seconds)} with {downpour.layout.machines}: its workers send "
        f"{_bytes_of(averaging)} a word, and not {_bytes_of(downpour)}"
    )


def _bytes_of(plan: Plan) -> str:
    assert plan.traffic is not None
    return f"{plan.traffic.bytes_a_word:,.1f} bytes"


def _reason_of_size(plan: Plan, wish: Wish) -> list[str]:
    if wish.workers is not None:
        return []
    if plan.seconds <= wish.most_seconds:
        return [f"workers={plan.layout.workers} is the fewest that take at most {duration(wish.most_seconds)}"]
    return [f"more workers gain little; the speed is limited by {plan.speed.bottleneck}"]


def _cluster(workload: Workload, machine: Machine, profile: Profile, wish: Wish, design: str) -> Plan:
    """Return the smallest cluster that is in time, or the smallest one that is nearly as fast as any."""

    def plan_with(workers: int) -> Plan:
        return _with_servers(workload, machine, profile, wish, design, workers)

    if wish.workers is not None:
        return plan_with(wish.workers)
    plans = []
    for workers in _counts():
        plans.append(plan_with(workers))
        if plans[-1].seconds <= wish.most_seconds:
            return _fewest(plan_with, plans[-1], wish.most_seconds)
    fastest = max(plan.speed.words_a_second for plan in plans)
    return next(plan for plan in plans if plan.speed.words_a_second >= fastest / _CLEARLY_FASTER)


def _fewest(plan_with: Callable[[int], Plan], best: Plan, most_seconds: float) -> Plan:
    """Return the plan with the fewest workers in time, given one that is in time."""
    late, in_time = math.ceil(best.layout.workers / _GROWTH) - 1, best.layout.workers
    while in_time - late > 1:
        middle = (late + in_time) // 2
        plan = plan_with(middle)
        if plan.seconds <= most_seconds:
            in_time, best = middle, plan
        else:
            late = middle
    return best


def _with_servers(
    workload: Workload, machine: Machine, profile: Profile, wish: Wish, design: str, workers: int
) -> Plan:
    """Return a plan with the fewest servers that have the memory and do not limit the speed."""

    def plan_with(servers: int) -> Plan:
        layout = Layout(design, workers, servers, wish.batch_words, wish.host_cores)
        return plan_of(workload, machine, layout, profile)

    if wish.servers is not None or design == AVERAGING:  # averaging needs a server and does not use it
        return plan_with(wish.servers or 1)
    for servers in _counts():
        plan = plan_with(servers)
        is_slow = plan.speed.bottleneck in LIMITS_OF_SERVERS and servers < _MOST_SERVERS_PER_WORKER * workers
        if "server" not in plan.tasks_over_memory and not is_slow:
            break
    return plan


def _counts() -> Iterator[int]:
    """Yield numbers of tasks, such as 1, 2, 3, 4, 6, 9, 13."""
    count = 1
    while count <= _MOST_TASKS:
        yield count
        count = max(count + 1, math.floor(count * _GROWTH))
