"""Workers that join a training and leave it, through the notices on the first server."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from gensim_tfw2v.cluster import notices
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.cluster.notice_reader import answer_wishes
from gensim_tfw2v.cluster.notices import JOIN, LEAVE, RELEASED, TAKEN, Notices
from gensim_tfw2v.cluster.specification import VACANT
from support.clock import Clock

MOST = 3
OWN = ["127.0.0.1:4001", "127.0.0.1:4002"]
OTHERS = ["127.0.0.1:4003", "127.0.0.1:4004", "127.0.0.1:4005"]
WORKERS = st.sampled_from([*OWN, *OTHERS])
USERS = st.sampled_from(["a training", "another training"])


class JoiningWorkers(RuleBasedStateMachine):
    """Compares the workers' numbers with what the coordinator has answered, and with who uses them."""

    def __init__(self) -> None:
        super().__init__()
        self.patched, self.clock = pytest.MonkeyPatch(), Clock()
        self.patched.setattr(notices, "time", self.clock)
        jobs = [
            SimpleNamespace(name="ps", tasks={0: "127.0.0.1:4000"}),
            SimpleNamespace(name="worker", tasks=dict(enumerate(OWN))),
        ]
        definition = SimpleNamespace(cluster=SimpleNamespace(job=jobs))
        self.connection = Connection(0, {"ps": ["127.0.0.1:4000"], "worker": list(OWN)}, None, definition)
        self.connection.reserve(MOST)
        self.board = Notices()
        self.answers: Any = {}
        self.used: dict[tuple[int, str], str] = {}  # address of the worker that a user calls, by its number and user
        self.released: set[str] = set()

    def teardown(self) -> None:
        """Undo what was changed."""
        self.patched.undo()

    @property
    def addresses(self) -> list[str]:
        """The workers' addresses by number."""
        return self.connection.addresses["worker"]

    @rule(address=WORKERS, wish=st.sampled_from([JOIN, LEAVE]))
    def post(self, address: str, wish: str) -> None:
        """Have a worker post its notice, and end once it is released."""
        found = json.loads(self.board.post(json.dumps([address, wish]).encode()))
        if wish == LEAVE and found["answer"] == RELEASED and address in self.addresses:
            number = self.addresses.index(address)
            assert address not in [self.used.get((number, user)) for user in ("a training", "another training")]

    @rule()
    def read(self) -> None:
        """Have the coordinator read all notices, and answer them."""
        wishes = json.loads(self.board.read(json.dumps(self.answers).encode()))
        self.answers = answer_wishes(self.connection, wishes)
        taken = [address for address, (answer, _) in self.answers.items() if answer == TAKEN]
        assert all(address in self.addresses for address in taken), "a worker that was taken has no number"
        for address in taken:
            assert str(self.addresses.index(address)) in self.answers[address][1]

    @rule(number=st.integers(0, MOST - 1), user=USERS)
    def begin_use(self, number: int, user: str) -> None:
        """Have a training call a worker, as it does once the worker answers."""
        if self.addresses[number] != VACANT and (number, user) not in self.used:
            is_leaving = self.connection.attendance.is_leaving(number)
            assert self.connection.attendance.begin_use(number, user) != is_leaving
            if not is_leaving:
                self.used[number, user] = self.addresses[number]

    @rule(number=st.integers(0, MOST - 1), user=USERS)
    def end_use(self, number: int, user: str) -> None:
        """Have a training call a worker no more."""
        self.connection.attendance.end_use(number, user)
        self.used.pop((number, user), None)

    @rule(seconds=st.sampled_from([1.0, 11.0]))
    def wait(self, seconds: float) -> None:
        """Let time pass: notices that are not posted again end."""
        self.clock.now += seconds

    @invariant()
    def numbers_are_clear(self) -> None:
        """Each worker has one number, TensorFlow knows the same one, and no number changes hands while it is used."""
        there = [address for address in self.addresses if address != VACANT]
        assert len(set(there)) == len(there)
        (job,) = (job for job in self.connection.definition.cluster.job if job.name == "worker")
        assert {number: address for number, address in enumerate(self.addresses) if address != VACANT} == job.tasks
        assert all(self.addresses[number] == address for (number, _), address in self.used.items())
