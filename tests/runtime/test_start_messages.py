"""Messages of TensorFlow's start are held back, and what others print meanwhile passes at once."""

from __future__ import annotations

import subprocess
import sys

MESSAGES = (
    "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR",
    "I0000 00:00:1795856717.098714   12022 port.cc:153] oneDNN custom operations are on.",
    "E0000 00:00:1795856653.370543   10791 cuda_platform.cc:52] failed call to cuInit: UNKNOWN ERROR (303)",
    "2026-01-02 03:04:05.678901: I tensorflow/core/util/port.cc:113] oneDNN custom operations are on.",
    "2026-01-02 03:04:05.678901: E external/local_xla/xla/stream_executor/cuda/cuda_dnn.cc:9261] Unable to register",
)
HOLD_BACK = "import os, sys\nfrom gensim_tfw2v.runtime.start_messages import start_messages_held_back\n"


def written_by(program: str) -> tuple[int, str]:
    """Return the exit code and the standard error of a program."""
    done = subprocess.run([sys.executable, "-c", HOLD_BACK + program], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


def test_messages_of_the_start_are_held_back_and_all_else_passes_in_its_order() -> None:
    program = f"""
with start_messages_held_back():
    os.write(2, b"before\\n")
    for message in {MESSAGES}:
        os.write(2, message.encode() + b"\\n")
    print("Python's own", file=sys.stderr)
    os.write(2, b"Info, without an end of line")
os.write(2, b" and after\\n")
"""
    assert written_by(program) == (0, "before\nPython's own\nInfo, without an end of line and after\n")


def test_messages_are_shown_if_the_start_fails() -> None:
    program = f"""
with start_messages_held_back():
    os.write(2, {MESSAGES[1]!r}.encode() + bytes([10]))
    raise SystemExit(3)
"""
    assert written_by(program) == (3, MESSAGES[1] + "\n")


def test_unfinished_lines_such_as_a_bar_pass_before_the_start_has_ended() -> None:
    program = """
reading, writing = os.pipe()
os.dup2(writing, 2)
with start_messages_held_back():
    os.write(2, b"\\rvocabulary 12 words")
    print(os.read(reading, 100))  # would wait forever otherwise
"""
    done = subprocess.run([sys.executable, "-c", HOLD_BACK + program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "b'\\rvocabulary 12 words'\n"


def test_a_program_that_is_started_meanwhile_keeps_its_standard_error() -> None:
    program = """
import subprocess
with start_messages_held_back():
    other = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read(); print('late', file=sys.stderr)"],
                             stdin=subprocess.PIPE)
other.communicate()
import time; time.sleep(0.5)  # until the text has been passed on
"""
    assert written_by(program) == (0, "late\n")


def test_a_program_without_standard_error_starts_too() -> None:
    program = "os.close(2)\nwith start_messages_held_back(): print('started')\n"
    done = subprocess.run([sys.executable, "-c", HOLD_BACK + program], stdout=subprocess.PIPE, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "started\n")
