"""Workers that join and leave a training: their notices, who still uses them, and what the coordinator answers."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from support.clock import Clock

from gensim_tfw2v.cluster import notices, strategy
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.cluster.errors import ClusterError, TaskError
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.cluster.notice_reader import answer_wishes
from gensim_tfw2v.cluster.notices import FULL, JOIN, LEAVE, REFUSED, RELEASED, TAKEN, WAIT, Notices, WorkerNotices
from gensim_tfw2v.cluster.specification import VACANT
from gensim_tfw2v.cluster.worker_use import LeavingWorkers

SERVER, FIRST, SECOND, NEW, OTHER = (f"127.0.0.1:{port}" for port in range(4000, 4005))


def connection_of(most: int | None = None, allow_network: bool = False) -> Connection:
    """Return a connection to two workers, which TensorFlow does not know, and with vacant ones up to `most`."""
    jobs = [SimpleNamespace(name="ps", tasks={0: SERVER}), SimpleNamespace(name="worker", tasks={0: FIRST, 1: SECOND})]
    definition = SimpleNamespace(cluster=SimpleNamespace(job=jobs))
    addresses = {"ps": [SERVER], "worker": [FIRST, SECOND]}
    found = Connection(0, addresses, None, definition, allow_network=allow_network)
    found.reserve(most)
    return found


def posted(board: Notices, address: str, wish: str) -> dict[str, Any]:
    """Return what a worker reads when it posts a notice."""
    found: dict[str, Any] = json.loads(board.post(json.dumps([address, wish]).encode()))
    return found


def read(board: Notices, answers: Any) -> Any:
    """Return what the coordinator reads."""
    return json.loads(board.read(json.dumps(answers).encode()))


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Return a clock by which notices age."""
    made = Clock()
    monkeypatch.setattr(notices, "time", made)
    return made


# -- who uses a worker -------------------------------------------------------------------------------------------------


def test_a_worker_may_end_once_all_trainings_have_let_it_go() -> None:
    found = LeavingWorkers()
    assert all(found.begin_use(1, user) for user in ("a", "b"))
    assert found.set_leaving({1}) == set()
    assert not found.begin_use(1, "c")
    found.end_use(1, "a")
    assert found.set_leaving({1}) == set()
    found.end_use(1, "b")
    assert found.set_leaving({1}) == {1}
    assert found.is_leaving(1)


def test_the_number_of_a_worker_that_has_left_is_free_until_it_is_used_again() -> None:
    found = LeavingWorkers()
    found.set_leaving({1})
    found.set_leaving(())
    assert (found.has_left(1), found.is_leaving(1), found.is_away(1), found.is_away(0)) == (True, False, True, False)
    assert found.begin_use(1, "a")
    assert not found.is_away(1)


# -- notices on the first server ---------------------------------------------------------------------------------------


def test_a_coordinator_reads_what_workers_post_and_they_read_its_answers() -> None:
    board = Notices()
    assert posted(board, NEW, JOIN)["answer"] == WAIT
    posted(board, FIRST, LEAVE)
    assert read(board, {}) == {NEW: JOIN, FIRST: LEAVE}
    assert read(board, {NEW: [REFUSED, "a reason"], SECOND: [TAKEN, ""]}) == {NEW: JOIN, FIRST: LEAVE}
    found = posted(board, NEW, JOIN)
    assert (found["answer"], found["reason"], found["is_read"]) == (REFUSED, "a reason", True)


def test_another_wish_needs_another_answer() -> None:
    board = Notices()
    posted(board, NEW, JOIN)
    read(board, {NEW: [TAKEN, ""]})
    assert posted(board, NEW, LEAVE)["answer"] == WAIT
    assert read(board, {}) == {NEW: LEAVE}


def test_a_notice_ends_if_it_is_not_posted_again(clock: Clock) -> None:
    board = Notices()
    posted(board, FIRST, LEAVE)
    posted(board, NEW, JOIN)
    clock.now += 8
    posted(board, NEW, JOIN)
    clock.now += 8
    assert read(board, {}) == {NEW: JOIN}


def test_workers_know_whether_a_coordinator_reads(clock: Clock) -> None:
    board = Notices()
    assert not posted(board, FIRST, LEAVE)["is_read"]
    read(board, {})
    assert posted(board, FIRST, LEAVE)["is_read"]
    clock.now += 11
    assert not posted(board, FIRST, LEAVE)["is_read"]
    read(board, {})
    read(board, None)
    assert not posted(board, FIRST, LEAVE)["is_read"]


@pytest.mark.parametrize("notice", [b"{", b"5", b'["a:1"]', b'["a:1", "stay"]', b'[1, "join"]', b"\xff"])
def test_a_damaged_notice_is_refused(notice: bytes) -> None:
    with pytest.raises(TaskError):
        Notices().post(notice)


# -- the coordinator's answers -----------------------------------------------------------------------------------------


def test_a_worker_that_joins_gets_a_vacant_number_and_keeps_it() -> None:
    connection = connection_of(most=3)
    assert (connection.workers, connection.share_present()) == (3, 2 / 3)
    for _ in range(2):
        assert answer_wishes(connection, {NEW: JOIN}) == {NEW: (TAKEN, "takes part as worker 2")}
    assert connection.addresses["worker"] == [FIRST, SECOND, NEW]
    assert connection.definition.cluster.job[1].tasks == {0: FIRST, 1: SECOND, 2: NEW}
    assert connection.share_present() == 1


def test_of_two_workers_one_gets_the_number_of_a_worker_that_has_left() -> None:
    connection = connection_of(most=2)
    answer_wishes(connection, {FIRST: LEAVE})
    answers = answer_wishes(connection, {NEW: JOIN, OTHER: JOIN})
    assert (answers[NEW][0], answers[OTHER][0]) == (TAKEN, FULL)
    assert connection.addresses["worker"] == [NEW, SECOND]
    assert answer_wishes(connection, {NEW: JOIN, OTHER: JOIN}) == answers


def test_a_worker_that_comes_back_shares_its_number_with_no_other_that_joins() -> None:
    connection = connection_of(most=2)
    answer_wishes(connection, {FIRST: LEAVE})
    answers = answer_wishes(connection, {FIRST: JOIN, NEW: JOIN})
    assert (answers[FIRST][0], answers[NEW][0]) == (TAKEN, FULL)
    answer_wishes(connection, {FIRST: LEAVE})
    answers = answer_wishes(connection, {NEW: JOIN, FIRST: JOIN})
    assert (answers[NEW][0], answers[FIRST][0]) == (TAKEN, FULL)
    assert connection.addresses["worker"] == [NEW, SECOND]


def test_a_worker_waits_for_a_number_until_another_one_has_left() -> None:
    connection = connection_of(most=2)
    connection.attendance.begin_use(0, "training")
    assert answer_wishes(connection, {NEW: JOIN})[NEW] == (FULL, "waits until another one leaves: max_workers=2")
    assert answer_wishes(connection, {FIRST: LEAVE, NEW: JOIN}) == {
        FIRST: (WAIT, ""),
        NEW: (FULL, "waits until another one leaves: max_workers=2"),
    }
    assert connection.share_present() == 0.5
    connection.attendance.end_use(0, "training")
    assert answer_wishes(connection, {FIRST: LEAVE})[FIRST] == (RELEASED, "")
    assert answer_wishes(connection, {NEW: JOIN})[NEW] == (TAKEN, "takes part as worker 0")
    assert connection.tasks("worker") == {"worker 0": NEW, "worker 1": SECOND}


def test_a_worker_whose_training_nobody_here_knows_may_leave() -> None:
    assert answer_wishes(connection_of(), {NEW: LEAVE}) == {NEW: (RELEASED, "")}


@pytest.mark.parametrize(
    ("address", "reason"), [("10.77.0.9:2222", "is on a network"), ("nonsense", "'nonsense' is not an address")]
)
def test_a_worker_at_an_address_that_is_not_allowed_is_refused(address: str, reason: str) -> None:
    connection = connection_of(most=3)
    answer, found = answer_wishes(connection, {address: JOIN})[address]
    assert answer == REFUSED
    assert reason in found
    assert connection.addresses["worker"][2] == VACANT


def test_a_network_is_allowed_to_workers_that_join_if_it_is_to_the_cluster() -> None:
    answers = answer_wishes(connection_of(most=3, allow_network=True), {"10.77.0.9:2222": JOIN})
    assert answers["10.77.0.9:2222"][0] == TAKEN


def test_a_cluster_with_more_workers_than_allowed_is_refused() -> None:
    with pytest.raises(ValueError, match="max_workers=1 is less than the number of the cluster's workers, 2"):
        connection_of(most=1)


def test_vacant_workers_are_no_tasks_and_go_with_the_next_training() -> None:
    connection = connection_of(most=4)
    connection.described_cores.update({"worker 0": 4, "worker 1": 2})
    assert connection.cores() == [4, 2, 2, 2]
    assert connection.tasks("worker") == {"worker 0": FIRST, "worker 1": SECOND}
    assert connection.known_addresses() == {"ps": [SERVER], "worker": [FIRST, SECOND]}
    assert not answers(VACANT)
    connection.reserve(None)
    assert connection.addresses["worker"] == [FIRST, SECOND]


def test_a_worker_that_two_trainings_take_in_has_one_number() -> None:
    """The thread of a training that ends may read notices while the next training begins."""
    connection = connection_of(most=4)
    assert [connection.take_in(NEW), connection.take_in(NEW)] == [2, 2]
    assert connection.addresses["worker"] == [FIRST, SECOND, NEW, VACANT]


# -- the change of connections -----------------------------------------------------------------------------------------


@pytest.fixture
def updates(monkeypatch: pytest.MonkeyPatch) -> list[dict[int, str]]:
    """Return the workers of all definitions that TensorFlow receives; it is connected to those of `connection_of`."""
    found: list[dict[int, str]] = []

    def update(definition: Any) -> None:
        found.append({task: address for job in definition.cluster.job[1:] for task, address in job.tasks.items()})

    monkeypatch.setattr(strategy, "current_definition", lambda: connection_of().definition)
    monkeypatch.setattr(strategy, "cut_hanging", lambda *_: contextlib.nullcontext())
    monkeypatch.setattr(strategy, "update_server_definition", update)
    return found


def test_a_worker_that_joins_is_connected_beside_the_others(updates: list[dict[int, str]]) -> None:
    connection = connection_of(most=3)
    connection.take_in(NEW)
    strategy.connect_to(connection.definition, [SECOND])
    assert updates == [{0: FIRST, 2: NEW}]


def test_a_worker_whose_number_another_one_gets_is_left_out_first(updates: list[dict[int, str]]) -> None:
    connection = connection_of(most=2)
    connection.attendance.set_leaving({1})
    connection.take_in(NEW)
    strategy.connect_to(connection.definition, [])
    assert updates == [{0: FIRST}, {0: FIRST, 1: NEW}]


# -- the worker's side -------------------------------------------------------------------------------------------------


class Answers:
    """Stands for the first server: returns one answer after the other, the last one again and again."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self._answers, self.posted = [self._whole(**answer) for answer in answers], []

    @staticmethod
    def _whole(**answer: Any) -> dict[str, Any]:
        known = json.loads(Notices().post(json.dumps([NEW, JOIN]).encode()))
        return known | {"is_read": True} | answer

    def __call__(self, address: str, function: str, text: str, seconds: float) -> str:
        if not self._answers:
            raise ClusterError(f"no answer from {address}")
        self.posted.append(json.loads(text))
        return json.dumps(self._answers.pop(0) if len(self._answers) > 1 else self._answers[0])


def all_but_compiled(step: str) -> bool:
    return step != "compiled"


Ask = Callable[..., tuple[WorkerNotices, Answers, list[str]]]


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ask]:
    """Return a function that makes the notices of a worker, the first server with answers, and what is printed."""

    def make(*answers: dict[str, Any], joins: bool = False) -> tuple[WorkerNotices, Answers, list[str]]:
        found, lines = Answers(*answers), []
        monkeypatch.setattr(notices, "ask_task", found)
        monkeypatch.setattr(notices, "_SECONDS_BETWEEN_JOINS", 0.0)
        return WorkerNotices(NEW, SERVER, joins, all_but_compiled, lines.append), found, lines

    yield make


def test_a_worker_that_joins_posts_again_and_again_and_says_once_what_becomes_of_it(worker: Ask) -> None:
    full, taken = {"answer": FULL, "reason": "waits"}, {"answer": TAKEN, "reason": "takes part as worker 2"}
    notice, server, lines = worker({"is_read": False}, full, full, taken, joins=True)
    assert not any(notice.look() for _ in range(6))
    assert server.posted == [[NEW, JOIN]] * 6
    assert [line.partition(NEW)[2] for line in lines] == [
        f" waits for a training with max_workers on the servers of {SERVER}",
        " waits",
        " takes part as worker 2",
    ]


def test_a_worker_of_the_cluster_posts_nothing_until_it_leaves(worker: Ask) -> None:
    notice, server, _ = worker({})
    assert not notice.look()
    assert server.posted == []
    notice.ask_to_leave(b"")
    assert notice.look()


def test_a_worker_that_is_refused_ends(worker: Ask) -> None:
    notice, _, _ = worker({"answer": REFUSED, "reason": "no network"}, joins=True)
    with pytest.raises(ClusterError, match=f"does not take the worker at {NEW}: no network"):
        notice.look()


def test_a_worker_of_another_version_does_not_join(worker: Ask) -> None:
    notice, _, _ = worker({"package": "0.0.1"}, joins=True)
    with pytest.raises(ClusterError, match=r"ps 0 at 127.0.0.1:4000 has package 0.0.1"):
        notice.look()


def test_a_worker_that_cannot_run_the_clusters_graphs_does_not_join(worker: Ask) -> None:
    notice, _, _ = worker({"step": "compiled"}, joins=True)
    with pytest.raises(ClusterError, match=f"the worker at {NEW} cannot run the compiled operations"):
        notice.look()


def test_a_worker_leaves_once_it_is_released(worker: Ask) -> None:
    notice, server, lines = worker({"answer": WAIT}, {"answer": WAIT}, {"answer": RELEASED})
    notice.leave(lambda: False)
    assert server.posted == [[NEW, LEAVE]] * 3
    assert len(lines) == 1


@pytest.mark.parametrize("answers", [[{"is_read": False}], []], ids=["nobody reads", "no server"])
def test_a_worker_ends_at_once_if_nobody_trains_with_it(answers: list[dict[str, Any]], worker: Ask) -> None:
    notice, _, lines = worker(*answers)
    notice.leave(lambda: pytest.fail("it waits"))
    assert lines == []


def test_a_second_signal_ends_a_worker_that_waits(worker: Ask) -> None:
    notice, server, _ = worker({"answer": WAIT})
    notice.leave(lambda: len(server.posted) == 2)
    assert len(server.posted) == 2


def test_a_worker_waits_for_its_release_for_a_limited_time(worker: Ask, clock: Clock) -> None:
    notice, server, _ = worker({"answer": WAIT})

    def wait() -> bool:
        clock.now += 10
        return False

    notice.leave(wait)
    assert len(server.posted) == 3
