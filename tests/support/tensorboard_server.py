"""TensorBoard as `tfw2v tensorboard` starts it, for tests that look at it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from support.interrupts import heed_interrupts


def printed_file(logdir: Path) -> Path:
    """Return the file that what the server of a folder prints goes to."""
    return logdir.parent / "tensorboard-printed.txt"


@contextlib.contextmanager
def serving(logdir: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Serve a folder meanwhile; yield the address and the process."""
    command = [sys.executable, "-m", "gensim_tfw2v", "tensorboard", str(logdir), "--port", "0"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    environment.pop("TF_CPP_MIN_LOG_LEVEL", None)  # users have no such variable
    printed = printed_file(logdir)
    with printed.open("w") as output:
        process = subprocess.Popen(
            command, env=environment, stdout=output, stderr=output, text=True, preexec_fn=heed_interrupts
        )
    try:
        yield _address(process, printed), process
    finally:
        process.kill()
        process.wait()


def _address(process: subprocess.Popen[str], printed: Path) -> str:
    """Return the address that the server prints once it listens."""
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.2)
        address = next((word for word in printed.read_text().split() if word.startswith("http://")), None)
        if address is not None:
            return address
        assert process.poll() is None, printed.read_text()
