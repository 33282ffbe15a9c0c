"""Runs the code and the commands of a page in turn: `python page_driver.py STEPS.json`.

Blocks of Python share their names, as in one session. A command that serves until it is interrupted runs beside the
others until the end.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

# Commands that run until Ctrl-C, and what they print when they are ready.
SERVING = {"cluster/local.sh": "ready: ", "tfw2v tensorboard": "http://"}
PATIENCE_SECONDS = 120


def start(command: str, ready: str, number: int) -> subprocess.Popen[bytes]:
    """Start a command and return its process once it is ready."""
    output = Path(f".serving-{number}.txt")
    with output.open("wb") as file:
        process = subprocess.Popen(["bash", "-c", f"exec {command}"], stdout=file, stderr=file, start_new_session=True)
    end = time.monotonic() + PATIENCE_SECONDS
    while ready not in output.read_text(encoding="utf8"):
        assert process.poll() is None and time.monotonic() < end, f"{command}: {output.read_text(encoding='utf8')}"
        time.sleep(0.2)
    print(output.read_text(encoding="utf8"), end="")
    return process


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a command that serves, which ends its children; those that do not end in time are killed."""
    process.terminate()
    try:
        process.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def main() -> None:
    """Run all steps; fail at the first that fails."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.ExitStack() as serving:
        for number, (kind, text) in enumerate(json.loads(Path(sys.argv[1]).read_text(encoding="utf8"))):
            ready = next((ready for start_of, ready in SERVING.items() if text.startswith(start_of)), None)
            if kind == "python":
                exec(compile(text, f"block {number}", "exec"), names)
            elif ready is not None:
                if text.startswith("tfw2v tensorboard"):
                    text += " --port 0"  # the page's own port may be taken
                serving.callback(stop, start(text, ready, number))
            else:
                subprocess.run(["bash", "-euo", "pipefail", "-c", text], check=True)


if __name__ == "__main__":
    main()
