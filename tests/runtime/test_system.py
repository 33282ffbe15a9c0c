"""What only Linux has is asked for in one module, and without it the package imports and trains."""

from __future__ import annotations

import errno
import os
import re
import socket
from pathlib import Path

import pytest
from support.child_process import run_script
from support.error_table import cases_under

import gensim_tfw2v
from gensim_tfw2v.cluster import exposure
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.local import local_cluster
from gensim_tfw2v.runtime import processes, system

PACKAGE = Path(gensim_tfw2v.__file__).parent
MESSAGES = cases_under("Operating systems")
# Whatever imports it would fail, and what reads it finds nothing: TensorFlow's native code aside.
WITHOUT_LINUX = """
import builtins, io, os, socket, sys
import multiprocessing.util  # which forks where it can, and is no part of this package
for module in ("fcntl", "resource"):
    sys.modules[module] = None
for name in ("register_at_fork", "fork", "sched_getaffinity", "posix_fallocate"):
    delattr(os, name)
del socket.SO_BINDTODEVICE
LINUX = "/proc", "/sys/fs/cgroup"

def hidden(function):
    def call(path=".", *arguments, **named):
        if isinstance(path, (str, os.PathLike)) and os.fspath(path).startswith(LINUX):
            raise FileNotFoundError(2, "hidden", os.fspath(path))
        return function(path, *arguments, **named)
    return call

os.stat, os.listdir, os.scandir, os.readlink = map(hidden, (os.stat, os.listdir, os.scandir, os.readlink))
builtins.open = io.open = hidden(io.open)
"""
IMPORT_EVERYTHING = """
import importlib, pkgutil
import gensim_tfw2v
for name in gensim_tfw2v.__all__:
    getattr(gensim_tfw2v, name)
for found in pkgutil.walk_packages(gensim_tfw2v.__path__, "gensim_tfw2v."):
    if found.name.split(".")[1] not in ("steps", "placement", "__main__", "operations", "native"):  # graphs, libraries
        importlib.import_module(found.name)
from gensim_tfw2v.runtime.cores import allowed_cores
from gensim_tfw2v.runtime.processes import machine_name, start_time
from gensim_tfw2v.cluster.task import own_metrics
print(allowed_cores() >= 1, len(machine_name()), start_time(os.getpid()), own_metrics()[1:].tolist())
"""
TRAIN = """
import logging, tempfile
import numpy as np
from gensim.test.utils import datapath
from gensim_tfw2v import TFWord2Vec
logging.basicConfig(format="%(levelname)s %(message)s", level=logging.WARNING)
with tempfile.TemporaryDirectory() as folder:
    corpus = datapath("lee_background.cor")
    settings = dict(sg=1, vector_size=20, workers=2, checkpoint_dir=folder + "/checkpoints")
    model = TFWord2Vec(corpus_file=corpus, epochs=2, **settings)
    before = model.wv.vectors.copy()
    model.save(folder + "/model")
    loaded = TFWord2Vec.load(folder + "/model")
    resumed = TFWord2Vec.resume(folder + "/checkpoints", corpus_file=corpus, epochs=3)
    print(np.isfinite(before).all(), np.array_equal(loaded.wv.vectors, before), np.abs(resumed.wv.vectors).max() > 0.1)
"""


def test_one_module_asks_for_what_only_some_systems_have() -> None:
    linux = re.compile(
        r'import fcntl|msvcrt|register_at_fork|SO_BINDTODEVICE|posix_fallocate|"/proc|os\.fork\b|import resource'
    )
    asking = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if linux.search(path.read_text())}
    assert asking == {"runtime/system.py"}


def test_without_linux_every_module_is_imported() -> None:
    done = run_script(WITHOUT_LINUX + IMPORT_EVERYTHING)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "16", "0", "[0.0,", "0.0,", "0.0]"]


def test_without_linux_tables_in_files_have_their_size(tmp_path: Path) -> None:
    script = "from gensim_tfw2v.files.mapped_rows import rows_in_files\n"
    script += (
        f"rows = rows_in_files({str(tmp_path)!r}, {{'inputs': (3000, 5)}})['inputs']\nrows[:] = 1\nprint(rows.sum())"
    )
    done = run_script(WITHOUT_LINUX + script)
    assert done.stdout.split() == ["15000.0"], done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("libraries", ["here", "nowhere"])
def test_without_linux_a_model_trains_resumes_and_is_saved(libraries: str, tmp_path: Path) -> None:
    taken = "" if libraries == "here" else f"import os; os.environ['TFW2V_LIBRARIES'] = {str(tmp_path)!r}\n"
    done = run_script(taken + WITHOUT_LINUX + TRAIN)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "True", "True"]
    assert "cannot be locked (this system has no locks)" in done.stderr


def test_without_the_calls_of_unix_a_file_is_locked_by_that_of_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    class Windows:
        LK_NBLCK = 2

        @staticmethod
        def locking(descriptor: int, mode: int, length: int) -> None:
            raise PermissionError(errno.EACCES, f"{descriptor} {mode} {length}")

    monkeypatch.setattr(system, "fcntl", None)
    monkeypatch.setattr(system, "msvcrt", Windows)
    with pytest.raises(PermissionError, match="7 2 1"):
        system.lock_file(7)
    monkeypatch.setattr(system, "msvcrt", None)
    with pytest.raises(OSError, match="no locks") as raised:
        system.lock_file(7)
    assert raised.value.errno == errno.ENOLCK


def test_where_signals_do_not_ask_every_process_counts_as_running(monkeypatch: pytest.MonkeyPatch) -> None:
    none = 2**22 + 1  # more than any process has as its number
    assert not processes.is_running(none)
    monkeypatch.setattr(processes, "can_ask_for_processes", lambda: False)
    assert processes.is_running(none)


def test_a_system_without_what_clusters_need_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system.os, "name", "nt")
    reason = system.why_no_cluster()
    monkeypatch.undo()
    assert reason is not None
    monkeypatch.setattr(exposure, "why_no_cluster", lambda: reason)
    for join in (lambda: exposure.check_allowed({}, allow_network=True), local_cluster().__enter__):
        with pytest.raises(ClusterError) as raised:
            join()
        assert [part for part in MESSAGES["a cluster on Windows"] if part not in str(raised.value)] == []


def test_open_sockets_are_listed_and_no_other_files(tmp_path: Path) -> None:
    with socket.socket() as one, (tmp_path / "file").open("w") as file:
        inode, other = os.fstat(one.fileno()).st_ino, os.fstat(file.fileno()).st_ino
        for inodes in (None, {inode, other}):
            found = list(system.open_sockets(inodes))
            numbers = {os.fstat(duplicate.fileno()).st_ino for duplicate in found}
            for duplicate in found:
                duplicate.close()
            assert inode in numbers
            assert other not in numbers
        assert list(system.open_sockets({other})) == []
