"""Processes that read a corpus file: how they start and end, and what is said of one that fails."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from support.file_scans import NO_CACHE, assert_scan_equals_gensim

from gensim_tfw2v.corpus import child_program
from gensim_tfw2v.corpus.file_scan import scan_file
from gensim_tfw2v.corpus.sources import FileSource, Reading


def children() -> set[int]:
    """Return the process numbers of the running children of this process."""
    return {child.pid for child in psutil.Process().children()}


def test_several_processes_read_a_compressed_file(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt.gz"
    path.write_bytes(gzip.compress(b"a b\nc\n" * 50_000))
    before = children()
    epoch = FileSource(path, Reading({"a": 0}, 10, NO_CACHE), 2, part_bytes=50).epoch()
    next(epoch)
    assert len(children() - before) == 2
    epoch.close()
    assert not children() - before


def test_an_epoch_left_early_ends_its_processes(corpus: Callable[[str], Path]) -> None:
    path = corpus("a b\nc\n" * 50_000)
    before = children()
    epoch = FileSource(path, Reading({"a": 0}, 10, NO_CACHE), 2, part_bytes=5_000).epoch()
    next(epoch)
    assert len(children() - before) == 2
    del epoch
    assert children() == before


def test_an_error_in_the_progress_function_ends_the_processes(corpus: Callable[[str], Path]) -> None:
    path = corpus("a b\nc\n" * 50_000)
    before = children()

    def interrupt(*totals: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scan_file(path, 2, NO_CACHE, interrupt, part_bytes=5_000)
    assert children() == before


def test_a_killed_process_is_reported_and_the_other_one_ended(corpus: Callable[[str], Path]) -> None:
    path = corpus("a b\nc\n" * 200_000)
    before = children()
    epoch = FileSource(path, Reading({"a": 0}, 10, NO_CACHE), 2, part_bytes=100_000).epoch()
    next(epoch)
    os.kill(min(children() - before), signal.SIGKILL)
    with pytest.raises(RuntimeError, match=r"corpus\.txt was ended by signal 9 .*memory.*workers=1"):
        list(epoch)
    assert children() == before


def test_a_process_that_cannot_start_is_reported_with_what_it_said(
    corpus: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_program, "_PROGRAM", "raise SystemExit('no such thing')")
    with pytest.raises(RuntimeError, match="exited with code 1; its error output: no such thing"):
        scan_file(corpus("a b\n" * 100), 2, NO_CACHE, part_bytes=20)


def test_a_file_that_cannot_be_opened_gives_the_systems_error(
    corpus: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = "import sys; sys.argv[1] += '.gone'; "
    monkeypatch.setattr(child_program, "_PROGRAM", program + child_program._PROGRAM)
    with pytest.raises(FileNotFoundError, match=r"corpus\.txt\.gone"):
        scan_file(corpus("a b\n" * 100), 2, NO_CACHE, part_bytes=20)


def test_without_a_python_program_the_file_is_read_here(
    corpus: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = corpus("a b\n" * 100)
    monkeypatch.setattr(sys, "executable", "")
    monkeypatch.setattr(subprocess, "Popen", None)
    assert_scan_equals_gensim(scan_file(path, 4, NO_CACHE, part_bytes=20), path)


def test_another_program_that_runs_python_reads_no_part(
    corpus: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = corpus("a b\n" * 100)
    monkeypatch.setattr(sys, "executable", "/bin/echo")
    assert_scan_equals_gensim(scan_file(path, 4, NO_CACHE, part_bytes=20), path)


def test_reading_processes_import_neither_gensim_nor_tensorflow() -> None:
    program = "import sys, gensim_tfw2v.corpus.file_parts; print({'gensim', 'tensorflow'} & set(sys.modules))"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(child_program.import_path())}
    command = [sys.executable, "-c", program]
    assert subprocess.check_output(command, env=env, text=True).strip() == "set()"


def test_the_processes_find_the_package_from_any_working_directory(
    corpus: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = corpus("a b\n" * 100)
    # A module of the user's that would take the place of one of Python's own.
    path.with_name("pickle.py").write_text("raise SystemExit('the wrong module')")
    monkeypatch.chdir(path.parent)
    assert_scan_equals_gensim(scan_file("corpus.txt", 2, NO_CACHE, part_bytes=20), path)
