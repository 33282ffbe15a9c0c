"""Which tasks the planner takes, and why."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

from gensim_tfw2v.cli.main import parse_arguments
from gensim_tfw2v.planning.choice import Choice, Wish, choose_plan
from gensim_tfw2v.planning.frequencies import WordFrequencies
from gensim_tfw2v.planning.machines import AVERAGING, DOWNPOUR, HERE, Machine
from gensim_tfw2v.planning.output import command_lines, host_lines
from gensim_tfw2v.planning.profiles import AMX
from gensim_tfw2v.planning.workload import Workload

ANY = Wish()
MACHINE = Machine(cores=16, memory=64e9, bits_a_second=10e9, price_an_hour=2.0)


def chosen(words: int, vocabulary: int, machine: Machine = MACHINE, wish: Wish = ANY, **settings: object) -> Choice:
    workload = Workload(words=words, frequencies=WordFrequencies.of_law(vocabulary, words, 5), mode="sg-neg")
    return choose_plan(replace(workload, **settings), machine, AMX, wish)  # type: ignore[arg-type]


def test_one_machine_is_enough_for_a_small_corpus() -> None:
    choice = chosen(10**8, 10**5)
    assert choice.plan.layout.design == HERE
    assert "one machine is enough" in choice.reasons[0]
    assert choice.plan is choice.one_machine
    assert choice.plan.layout.machines == 1


def test_vectors_that_exceed_a_machine_are_on_servers_that_hold_them() -> None:
    choice = chosen(10**10, 10**8, vector_size=300)
    plan = choice.plan
    assert plan.layout.design == DOWNPOUR
    assert choice.reasons[0] == "one machine has not the memory"
    assert plan.memory["server"] < 64e9 < 240e9 / (plan.layout.servers - 1)
    assert plan.vectors_on_servers


def test_a_corpus_that_takes_too_long_gets_the_fewest_workers_in_time() -> None:
    machine, limit = replace(MACHINE, cores=1), 4 * 3600.0
    plan = chosen(10**10, 10**5, machine, Wish(most_seconds=limit), encoded=True).plan
    assert plan.layout.workers > 1
    assert plan.seconds <= limit
    fewer = Wish(design=plan.layout.design, workers=plan.layout.workers - 1)
    assert chosen(10**10, 10**5, machine, fewer, encoded=True).plan.seconds > limit


def test_a_cluster_that_is_not_clearly_faster_than_one_machine_is_not_taken() -> None:
    slow_links = replace(MACHINE, bits_a_second=2e8)
    choice = chosen(10**11, 10**6, slow_links, Wish(most_seconds=8 * 3600.0), encoded=True)
    assert choice.plan.layout.design == HERE
    assert "no cluster of such machines is clearly faster" in choice.reasons[-1]


def test_a_corpus_with_many_long_blocks_is_trained_faster_by_more_machines() -> None:
    of_workers = [chosen(10**11, 10**7, wish=Wish(design=DOWNPOUR, workers=count), encoded=True) for count in (10, 100)]
    few, many = (choice.plan.speed.words_a_second for choice in of_workers)
    assert many > 8 * few


def test_workers_that_gain_nothing_are_not_taken() -> None:
    choice = chosen(10**11, 10**6, wish=Wish(most_seconds=1.0, design=DOWNPOUR), encoded=True)
    assert choice.plan.layout.workers < 1000
    assert choice.plan.seconds > 1.0


@pytest.mark.parametrize("design", [DOWNPOUR, AVERAGING])
def test_what_is_asked_for_is_planned(design: str) -> None:
    choice = chosen(10**7, 10**4, wish=Wish(design=design, workers=3, servers=2))
    layout = choice.plan.layout
    assert (layout.design, layout.workers, layout.servers, layout.machines) == (design, 3, 2, 6)
    assert "one machine would be enough" in choice.reasons[0]


def test_tasks_on_one_machine_share_its_cores_and_its_memory() -> None:
    wish = Wish(design=DOWNPOUR, workers=4, servers=1, host_cores=16)
    plan = chosen(10**9, 10**5, replace(MACHINE, memory=3e9), wish).plan
    assert plan.machine.cores == 4
    assert plan.layout.machines == 1
    needed = 4 * plan.memory["worker"] + plan.memory["server"] + plan.memory["coordinator"]
    assert plan.memory_of_machines == {"machine": needed}
    assert plan.tasks_over_memory == ["machine"]


def test_the_cost_is_that_of_all_machines() -> None:
    plan = chosen(10**9, 10**5, wish=Wish(design=DOWNPOUR, workers=3, servers=1)).plan
    assert plan.cost == pytest.approx(5 * 2.0 * plan.seconds / 3600)


def test_a_plan_warns_of_memory_of_staleness_and_of_small_blocks() -> None:
    small = chosen(10**9, 10**7, Machine(cores=1, memory=2e9), Wish(design=DOWNPOUR, workers=1, servers=1))
    assert [task for task in ("server", "coordinator") if f"the {task} needs" in " ".join(small.plan.warnings)]
    long = Wish(design=DOWNPOUR, workers=16, servers=1, batch_words=62_500)
    stale = chosen(4 * 10**6, 24_000, wish=long, encoded=False)
    assert any("25% of the corpus" in warning for warning in stale.plan.warnings)
    short = Wish(design=DOWNPOUR, workers=100, servers=10, batch_words=100_000)
    wide = chosen(10**12, 10**8, Machine(32, 1e12, 10e9), short, encoded=True)
    assert any("cores exchanges rows" in warning for warning in wide.plan.warnings)
    assert chosen(10**8, 10**5).plan.warnings == []


@pytest.mark.parametrize(
    "wish",
    [
        Wish(),
        Wish(design=DOWNPOUR, workers=2, servers=1, batch_words=50_000),
        Wish(design=AVERAGING, workers=2, host_cores=4),
    ],
)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"encoded": True, "mode": "cbow-hs", "vector_size": 50},
        {"sample": 1e-5, "negative": 7, "window": 8},
    ],
)
def test_command_lines_are_some_that_tfw2v_has(wish: Wish, settings: dict[str, object]) -> None:
    plan = chosen(10**8, 10**5, wish=wish, **settings).plan  # type: ignore[arg-type]
    for line in command_lines(plan):
        program, *arguments = shlex.split(line)
        if program == "tfw2v":
            parsed = parse_arguments(arguments)
            if parsed.command == "train":
                assert (parsed.vector_size, parsed.window) == (plan.workload.vector_size, plan.workload.window)
                assert (bool(parsed.sg), bool(parsed.hs)) == (plan.workload.skip_gram, plan.workload.tree)
        else:
            assert program in ("cluster/ssh.sh", "cluster/local.sh")
    assert len(host_lines(plan)) == (3 if wish.servers else 0)
