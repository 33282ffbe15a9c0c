"""An import of TensorFlow that begins before it is needed neither delays a program's end nor disturbs forks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.child_process import environment

LONGEST = 60  # seconds, after which a program counts as one that waits forever


def run(program: str, folder: Path, tensorflow: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder, where a module stands in for TensorFlow if its source is given."""
    path = ""
    if tensorflow is not None:
        (folder / "tensorflow.py").write_text(tensorflow)
        path = f"sys.path.insert(0, {str(folder)!r})\n"
    return subprocess.run(
        [sys.executable, "-c", f"import os, sys, threading, time\n{path}{program}"],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )


def test_a_process_forked_meanwhile_can_import_tensorflow(tmp_path: Path) -> None:
    program = """
from gensim_tfw2v.runtime.tensorflow import import_ahead

sys.begun = threading.Event()
import_ahead()
sys.begun.wait()
pid = os.fork()
if pid == 0:
    import tensorflow
    print(tensorflow.__name__, flush=True)
    os._exit(0)
threading.Timer(20, os.kill, (pid, 9)).start()
os.waitpid(pid, 0)
os._exit(0)
"""
    assert run(program, tmp_path, "import sys, time; sys.begun.set(); time.sleep(1)").stdout == "tensorflow\n"


def test_a_program_that_ends_meanwhile_waits_for_no_further_module(tmp_path: Path) -> None:
    (tmp_path / "further.py").write_text("open('imported', 'w').close()")
    slow = """
import threading, time
while threading.main_thread().is_alive():
    time.sleep(0.01)
try:
    import further
except Exception:
    import further
"""
    program = "from gensim_tfw2v.runtime.tensorflow import import_ahead; import_ahead()"
    done = run(program, tmp_path, slow)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (tmp_path / "imported").exists()


@pytest.mark.parametrize(
    "seconds", [0, pytest.param(0.5, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.slow)]
)
def test_a_program_that_ends_meanwhile_says_nothing_of_it(seconds: float, tmp_path: Path) -> None:
    program = f"from gensim_tfw2v.runtime.tensorflow import import_ahead; import_ahead(); time.sleep({seconds})"
    done = run(program, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_program_that_fails_meanwhile_shows_its_error_alone(tmp_path: Path) -> None:
    program = "from gensim_tfw2v.runtime.tensorflow import import_ahead; import_ahead(); raise SystemExit('no words')"
    done = run(program, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "no words\n")


def test_no_thread_waits_for_another_that_loads_tensorflow(tmp_path: Path) -> None:
    program = """
from gensim_tfw2v.runtime.tensorflow import import_ahead, load_tensorflow

sys.begun, sys.may_end = threading.Event(), threading.Event()
threading.Thread(target=lambda: load_tensorflow(), daemon=True).start()
sys.begun.wait()
ahead = threading.Thread(target=import_ahead, daemon=True)
ahead.start()
ahead.join(20)
print(ahead.is_alive(), flush=True)
os._exit(0)
"""
    tensorflow = "import sys; sys.begun.set(); sys.may_end.wait()"
    assert run(program, tmp_path, tensorflow).stdout == "False\n"


def test_a_tensorflow_that_the_program_has_imported_is_left_alone(tmp_path: Path) -> None:
    program = """
import tensorflow
from gensim_tfw2v.runtime.tensorflow import import_ahead, is_tensorflow_loaded

import_ahead()
print(threading.active_count(), is_tensorflow_loaded(), "TF_FORCE_GPU_ALLOW_GROWTH" in os.environ)
"""
    assert run(program, tmp_path, "").stdout == "1 True False\n"
