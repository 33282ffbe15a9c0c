"""Signals that end a process reach the thread that waits for them, whatever it is doing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from gensim_tfw2v.runtime.end_signals import EndSignals, end_as_interrupt

SIGNALS = 20_000
# Waits for signals as fast as it can, so that many of them come in the midst of a wait.
RECEIVER = """
import select
from gensim_tfw2v.runtime.end_signals import EndSignals
signals = EndSignals()
print("ready", flush=True)
while not select.select([0], [], [], 0)[0]:  # until standard input is closed
    for _ in range(100):
        signals.wait(0.00001)
print("ended", flush=True)
"""


def test_a_signal_in_the_midst_of_a_wait_does_not_block_it() -> None:
    with subprocess.Popen([sys.executable, "-c", RECEIVER], stdin=-1, stdout=-1, text=True) as receiver:
        assert receiver.stdin and receiver.stdout
        assert receiver.stdout.readline() == "ready\n"
        for number in range(SIGNALS):
            receiver.send_signal(signal.SIGINT if number % 2 else signal.SIGTERM)
        receiver.stdin.close()
        try:
            receiver.wait(30)
        finally:
            receiver.kill()
        assert receiver.stdout.read() == "ended\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_wait_ends_with_a_signal_or_after_its_time(number: signal.Signals) -> None:
    former = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        signals = EndSignals()
        assert not signals.wait(0.01)
        os.kill(os.getpid(), number)
        began = time.monotonic()
        assert signals.wait(30)
        assert time.monotonic() - began < 10
    finally:
        for received, handler in former.items():
            signal.signal(received, handler)


def test_an_end_interrupts_work_only_meanwhile() -> None:
    former = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with pytest.raises(KeyboardInterrupt), end_as_interrupt():
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(30)
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, former)
