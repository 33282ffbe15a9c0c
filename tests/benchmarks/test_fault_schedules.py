"""`benchmarks/fault_schedules.py`: what it draws and checks, and trainings that it disturbs."""

from __future__ import annotations

import datetime
import fcntl
import json
from pathlib import Path
from typing import Any

import pytest
from fault_injection.disks import empty, fill, release_lock, small_disk, why_not
from fault_injection.invariants import problems, problems_of_error
from fault_injection.play import Played, Trouble
from fault_injection.progress_file import ProgressFile
from fault_injection.schedule_table import by_design, by_event, violations
from fault_injection.schedules import CUT, DESIGNS, FULL, KILL, LINKS, STOP, TAKE_OVER, Event, Moment, Schedule, draw
from fault_schedules import shortened
from measuring.planted import planted_score, write_planted_corpus
from support.benchmark_commands import run_command

WORDS = 1000
FORTY = {"downpour": 8, "synchronous": 8, "averaging": 7, "partition": 7, "columns": 5, "lbfgs": 5}
NOTHING_LEFT = {
    "has_resumed": True,
    "finite": True,
    "epoch_words": [WORDS] * 4,
    "described": 3,
    "tables": {},
    "checkpoint_files": ["checkpoint-000007", ".lock", "notes.json"],
}


def a_schedule(*actions: str, design: str = "downpour") -> Schedule:
    """Return a schedule in which these actions happen to the first worker."""
    events = tuple(Event(action, "worker0", Moment("call", 0.5, 0.0), 1.0) for action in actions)
    return Schedule("made-up", design, 1, 2, False, 3, 1, events)


def a_result(**others: Any) -> dict[str, Any]:
    """Return the result of a made-up coordinator."""
    usual = {"losses": [3.0, 2.0, 1.0], "recoveries": 0, "lost_submodels": 0, "score": 1.0, "finite": True}
    return usual | others


USUAL = {
    "results": [a_result()],
    "undisturbed": a_result(),
    "probe": NOTHING_LEFT,
    "corpus_words": WORDS,
    "tasks": 3,
    "before": {},
    "after": {},
    "left": [],
}


def found_problems(
    schedule: Schedule, lines: list[dict[str, Any]] | None = None, played: Played | None = None, **others: Any
) -> list[str]:
    """Return the problems of a schedule that has left nothing, apart from `others`."""
    return problems(schedule, played or Played([]), lines or [], {**USUAL, **others})


def an_error(message: str, kind: str = "ClusterError") -> dict[str, Any]:
    """Return the error with which a coordinator has ended after 100 seconds."""
    return {"type": kind, "message": message, "at": 100.0}


# -- what is drawn -----------------------------------------------------------------------------------------------------


def test_a_schedule_follows_from_seed_number_and_designs_and_is_read_from_its_json() -> None:
    drawn = [draw("7", number, list(DESIGNS), ()) for number in range(200)]
    assert drawn == [draw("7", number, list(DESIGNS), ()) for number in range(200)]
    assert drawn != [draw("8", number, list(DESIGNS), ()) for number in range(200)]
    assert [Schedule.from_json(json.loads(json.dumps(one.to_json()))) for one in drawn] == drawn
    assert {one.design for one in drawn} == set(DESIGNS)
    assert {len(one.events) for one in drawn} == {2, 3, 4, 5, 6}
    assert {event.victim for one in drawn for event in one.events} >= {"ps0", "ps1", "worker0", "coordinator"}


def test_what_the_machine_or_the_design_cannot_do_is_not_drawn() -> None:
    events = [event for number in range(200) for event in draw("7", number, ["averaging"], LINKS).events]
    assert not {event.action for event in events} & {*LINKS, "join", "leave"}


def test_what_waits_for_a_recovery_comes_after_a_killed_server() -> None:
    for number in range(200):
        events = draw("7", number, list(DESIGNS), ()).events
        if any(event.moment.stage in ("recovery", "restore") for event in events):
            kills = [event for event in events if event.action == KILL and event.victim.startswith("ps")]
            assert any(event.moment.stage not in ("recovery", "restore") for event in kills)


def test_a_schedule_is_shortened_to_the_events_that_make_it_fail() -> None:
    schedule = a_schedule(STOP, KILL, STOP, TAKE_OVER, KILL)
    shortest = shortened(schedule, lambda trial: trial.has(KILL) and trial.has(TAKE_OVER))
    assert [event.action for event in shortest.events] == [TAKE_OVER, KILL]


def test_a_line_that_is_cut_off_is_read_once_it_is_whole_and_left_out_if_it_never_is(tmp_path: Path) -> None:
    progress = ProgressFile(tmp_path / "lines", words=100)
    (tmp_path / "lines").write_text('{"words": 25, "process": 1}\n{"stage": "ca')
    assert [line["share"] for line in progress.new_lines()] == [0.25]
    with (tmp_path / "lines").open("a") as file:
        file.write('ll", "process": 1}\n{"wor{"stage": "close", "process": 2}\n{"words": 5, "process": 2}\n')
    assert [(line["stage"], line["share"]) for line in progress.new_lines()] == [("call", 0.25), ("words", 0.25)]


def test_a_lock_that_the_storage_gives_up_can_be_taken_and_its_file_has_the_same_content(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    path.write_text("owner 1")
    with path.open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with path.open("r+") as refused, pytest.raises(BlockingIOError):
            fcntl.flock(refused, fcntl.LOCK_EX | fcntl.LOCK_NB)
        release_lock(path)
        with path.open("r+") as taken:
            fcntl.flock(taken, fcntl.LOCK_EX | fcntl.LOCK_NB)
            assert taken.read() == "owner 1"


def test_a_full_disk_takes_nothing_until_it_is_emptied(tmp_path: Path) -> None:
    if (reason := why_not(tmp_path)) is not None:
        pytest.skip(reason)
    with small_disk(tmp_path / "disk") as disk:
        fill(disk)
        with pytest.raises(OSError, match="No space left"):
            (disk / "more").write_bytes(bytes(2**17))
        empty(disk)
        (disk / "more").write_bytes(bytes(2**17))


def test_the_score_is_none_of_random_vectors_and_all_of_planted_ones(tmp_path: Path) -> None:
    import numpy as np

    assert write_planted_corpus(1000, 1, tmp_path / "corpus.txt") == 1000
    words = {word for line in (tmp_path / "corpus.txt").read_text().splitlines() for word in line.split()}
    chance = np.random.default_rng(1)
    names = {f"topic{topic}_{number}": topic for topic in range(10) for number in range(30)}
    assert {word for word in words if word.startswith("topic")} <= set(names)
    assert abs(planted_score({name: chance.normal(size=50) for name in names})) < 0.05
    assert planted_score({name: np.eye(10)[topic] for name, topic in names.items()}) == pytest.approx(10 / 9)


# -- what is checked ---------------------------------------------------------------------------------------------------


def test_a_schedule_that_leaves_nothing_has_no_problem() -> None:
    assert found_problems(a_schedule(KILL)) == []


@pytest.mark.parametrize(
    ("others", "problem"),
    [
        ({"results": [a_result(finite=False)]}, "not finite"),
        ({"results": [a_result(score=0.8)]}, "the score is 0.800, undisturbed 1.000"),
        ({"results": [a_result(losses=[3.0, 2.0, 1.2])]}, "the loss is 1.2000, undisturbed 1.0000"),
        ({"probe": {**NOTHING_LEFT, "epoch_words": [WORDS, WORDS + 10, WORDS, WORDS]}}, "have trained"),
        ({"probe": {**NOTHING_LEFT, "tables": {"ps 0": ["lease"]}}}, "ps 0 has tables of 1 trainings"),
        ({"probe": {**NOTHING_LEFT, "checkpoint_files": [".tfw2v-checkpoint-1"]}}, "has .tfw2v-checkpoint-1"),
        ({"probe": {"error": "is damaged"}}, "does not resume: is damaged"),
        ({"probe": {**NOTHING_LEFT, "described": 2}}, "2 of 3 tasks answer"),
        ({"left": ["process 7"]}, "process 7 is left"),
        (
            {
                "before": {"ps0": {"process": 1, "threads": 10, "descriptors": 10}},
                "after": {"ps0": {"process": 1, "threads": 10, "descriptors": 15}},
            },
            "ps0 has 15 descriptors, and had 10 before",
        ),
    ],
)
def test_what_does_not_hold_is_named(others: dict[str, Any], problem: str) -> None:
    (found,) = found_problems(a_schedule(KILL), **others)
    assert problem in found


def test_a_training_may_have_no_checkpoint_if_its_disk_was_full() -> None:
    none = {**NOTHING_LEFT, "has_resumed": False, "epoch_words": [WORDS]}
    assert found_problems(a_schedule(KILL), probe=none) == ["there is no checkpoint"]
    played = Played([], troubles=[Trouble("", FULL, 1.0)])
    assert found_problems(a_schedule(FULL), played=played, probe=none) == []


def test_words_that_are_counted_twice_are_named_even_if_they_are_trained_again_later() -> None:
    lines = [{"stage": "words", "words": 3 * WORDS + 10, "process": 1}]
    assert found_problems(a_schedule(KILL), lines) == ["3,010 words were counted of 3,000"]


def test_sub_models_that_are_lost_may_cost_a_part_of_the_score() -> None:
    lost = a_result(score=0.6, lost_submodels=1, losses=[3.0, 2.0, 1.5])
    assert found_problems(a_schedule(KILL, design="partition"), results=[lost]) == []
    assert len(found_problems(a_schedule(KILL, design="partition"), results=[{**lost, "lost_submodels": 0}])) == 2


def test_a_checkpoint_of_a_process_whose_folder_another_one_has_taken_is_named() -> None:
    lines = [{"stage": stage, "process": process} for stage, process in (("held", 1), ("held", 2), ("written", 1))]
    assert found_problems(a_schedule(TAKE_OVER), lines) == ["process 1 wrote a checkpoint when 2 owned the folder"]


def test_an_error_is_allowed_if_it_is_on_the_page_and_what_it_names_was_disturbed() -> None:
    stopped = [Trouble("worker0", STOP, 50.0, 90.0)]
    no_answer = an_error("no answer within 20 s from worker 0 at 127.0.0.1:1: start it")
    assert problems_of_error(no_answer, a_schedule(STOP), stopped) == []
    assert len(problems_of_error(no_answer, a_schedule(STOP), [])) == 1
    assert len(problems_of_error(no_answer, a_schedule(STOP), [Trouble("worker1", STOP, 50.0, 90.0)])) == 1
    assert len(problems_of_error(no_answer, a_schedule(STOP), [Trouble("worker0", STOP, 101.0, 110.0)])) == 1
    (unknown,) = problems_of_error(an_error("something went wrong"), a_schedule(STOP), stopped)
    assert "the page of errors does not name" in unknown


def test_an_error_of_all_workers_is_allowed_if_all_were_disturbed() -> None:
    stuck = an_error("no worker has finished a block for 10 s (cluster_timeout is 5); all tasks answer")
    both = [Trouble("worker0", STOP, 50.0, 90.0), Trouble("worker1", STOP, 50.0, 90.0)]
    assert problems_of_error(stuck, a_schedule(STOP), both) == []
    assert len(problems_of_error(stuck, a_schedule(STOP), both[:1])) == 1


def test_a_coordinator_that_did_not_run_must_not_blame_workers_but_one_without_a_link_may() -> None:
    stuck = an_error("no worker has finished a block for 10 s (cluster_timeout is 5); all tasks answer")
    assert len(problems_of_error(stuck, a_schedule(STOP), [Trouble("coordinator", STOP, 50.0, 90.0)])) == 1
    assert problems_of_error(stuck, a_schedule(CUT), [Trouble("coordinator", CUT, 50.0, 90.0)]) == []


def test_an_error_of_a_full_disk_is_allowed_where_it_was_full() -> None:
    written = an_error("[Errno 28] cannot write checkpoints, and those that are there stay: No space left", "OSError")
    assert problems_of_error(written, a_schedule(FULL), [Trouble("", FULL, 50.0, 110.0)]) == []
    assert len(problems_of_error(written, a_schedule(FULL), [])) == 1


def test_an_error_of_another_training_in_the_folder_is_allowed_where_there_is_one() -> None:
    used = an_error("checkpoint_dir '/a' is in use by another training; wait until that has ended", "FolderInUseError")
    assert problems_of_error(used, a_schedule(TAKE_OVER), []) == []
    assert len(problems_of_error(used, a_schedule(KILL), [])) == 1


def test_tables_count_designs_events_and_violations() -> None:
    run = {
        "name": "made-up",
        "schedule": a_schedule(KILL, STOP, KILL).to_json(),
        "happened": [1.0, None, 2.0],
        "errors": [],
        "results": [a_result(score=0.5, recoveries=2)],
        "seconds": 30.0,
        "undisturbed_seconds": 10.0,
        "undisturbed_score": 1.0,
        "violations": ["wrong"],
    }
    assert by_design([run])[1] == ["downpour", "1", "2", "2", "0", "30 (30 to 30)", "10 (10 to 10)", "50%", "**1**"]
    assert ["action", "kill", "2", "2"] in by_event([run])
    assert ["action", "stop", "1", "0"] in by_event([run])
    assert violations([run])[1:] == [["made-up", "wrong"]]


# -- trainings ---------------------------------------------------------------------------------------------------------


def test_a_file_that_is_no_schedule_is_refused(tmp_path: Path) -> None:
    (tmp_path / "schedule.json").write_text('{"name": "a"}')
    done = run_command("fault_schedules.py", "--replay", tmp_path / "schedule.json", "--output", tmp_path)
    assert done.returncode == 2
    assert "has no schedule" in done.stderr


@pytest.mark.slow
def test_two_schedules_keep_all_promises(tmp_path: Path) -> None:
    check_schedules(tmp_path, "1407", 2, "downpour")  # each process is killed, a server is stopped, on one cluster


@pytest.mark.slow
@pytest.mark.parametrize("design", FORTY)
def test_forty_schedules_keep_all_promises(design: str, tmp_path: Path) -> None:
    check_schedules(tmp_path, datetime.date.today().isoformat(), FORTY[design], design)


def check_schedules(folder: Path, seed: str, count: int, design: str) -> None:
    """Play schedules without a network of their own; a failure shows the seed and what can be replayed."""
    arguments = ("--seed", seed, "--count", count, "--design", design, "--plain", "--output", folder)
    done = run_command("fault_schedules.py", *arguments)
    assert done.returncode == 0, f"--seed {seed} --design {design} --plain\n{done.stderr}"
    runs = json.loads((folder / "fault_schedules.json").read_text())["runs"]
    assert len(runs) == count
    assert any(moment is not None for run in runs for moment in run["happened"])
