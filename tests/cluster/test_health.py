"""Whether tasks answer: many are checked at the same time, and each check has a limit."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from typing import NoReturn

import pytest

from gensim_tfw2v.cluster import health
from gensim_tfw2v.cluster.errors import ClusterError

MACHINES = 50
SETTINGS_FRAME = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])  # with which every HTTP/2 server begins


def test_all_tasks_are_checked_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """If 50 machines vanish, each check takes two seconds."""
    together = threading.Barrier(MACHINES, timeout=30.0)
    monkeypatch.setattr(health, "answers", lambda address: together.wait() < 0)
    tasks = {f"worker {number}": f"machine{number}:1" for number in range(MACHINES)}
    assert health.silent_of(tasks) == [f"{name} at {address}" for name, address in tasks.items()]
    with pytest.raises(ClusterError, match="no answer from any worker: machine0:1, machine1:1"):
        health.raise_if_no_worker_answers(list(tasks.values()))


def test_more_tasks_than_are_checked_at_once_are_all_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_CHECKS_AT_ONCE", 3)
    monkeypatch.setattr(health, "answers", lambda address: int(address) % 2 == 0)
    assert health.answering(map(str, range(10))) == {"0", "2", "4", "6", "8"}


def test_an_answer_that_trickles_in_is_none() -> None:
    def trickle(listening: socket.socket) -> None:
        accepted, _ = listening.accept()
        with accepted:
            for byte in SETTINGS_FRAME:
                time.sleep(0.3)
                with contextlib.suppress(OSError):  # the other side has left
                    accepted.sendall(bytes([byte]))

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=trickle, args=[listening], daemon=True).start()
        assert not health.answers(f"127.0.0.1:{listening.getsockname()[1]}", seconds=1.0)


def test_a_functions_own_timeout_error_is_raised() -> None:
    def fail() -> NoReturn:
        raise TimeoutError("of the function")

    raised: list[str] = []

    def wait() -> None:
        try:
            health.wait_while_answering(fail, {}, 60.0)
        except TimeoutError as error:
            raised.append(str(error))

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    waiting.join(30.0)
    assert raised == ["of the function"]
