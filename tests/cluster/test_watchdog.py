"""A time limit in a process of its own."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator

import pytest

from gensim_tfw2v.cluster.watchdog import kill_after

_NOBODY = 2**30  # more than Linux numbers processes: as one that has ended meanwhile


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "300"]) as process:
        yield process
        process.kill()


def test_processes_are_killed_when_the_block_lasts_longer(sleeper: subprocess.Popen[bytes]) -> None:
    with kill_after(0.1, [_NOBODY, sleeper.pid]):
        assert sleeper.wait(60) == -signal.SIGKILL


def test_processes_are_left_alone_when_the_block_ends_in_time_or_fails(sleeper: subprocess.Popen[bytes]) -> None:
    with kill_after(300, [sleeper.pid]):
        pass
    with pytest.raises(KeyError), kill_after(300, [sleeper.pid]):
        raise KeyError
    assert sleeper.poll() is None
