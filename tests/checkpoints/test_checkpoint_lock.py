"""One training at a time writes to a folder of checkpoints."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import signal
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from support.child_process import environment
from support.resumed_training import Interrupted, train, untrained

from gensim_tfw2v.checkpoints import folder as folder_module
from gensim_tfw2v.checkpoints.errors import FolderInUseError
from gensim_tfw2v.checkpoints.folder import CheckpointFolder
from gensim_tfw2v.checkpoints.owner import read_owner

HOLDER = """
import os, signal, sys
from gensim_tfw2v.checkpoints.folder import CheckpointFolder

with CheckpointFolder(sys.argv[1]).held():
    if os.fork() == 0:
        print("held", flush=True)
    signal.pause()
"""


def assert_is_free(folder: CheckpointFolder) -> None:
    """Fail if the folder is held."""
    with folder.held():
        pass


def test_a_folder_is_held_once_in_a_process(folder: CheckpointFolder) -> None:
    with (
        folder.held(),
        pytest.raises(FolderInUseError, match=f"{folder.path}.* is in use by another training"),
        CheckpointFolder(folder.path).held(),
    ):
        pass
    assert_is_free(folder)


def test_a_killed_process_holds_nothing_although_its_child_lives_on(folder: CheckpointFolder) -> None:
    command = [sys.executable, "-c", HOLDER, str(folder.path)]
    holder = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(FolderInUseError), folder.held():
            pass
        holder.kill()
        holder.wait()
        os.killpg(holder.pid, 0)  # the child is there
        assert_is_free(folder)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(holder.pid, signal.SIGKILL)
        holder.communicate()


def test_a_file_system_without_locks_is_warned_of(
    folder: CheckpointFolder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with caplog.at_level(logging.WARNING), folder.held():
        pass
    assert f"{folder.path} cannot be locked (No locks available)" in caplog.text


def test_a_second_training_in_the_same_folder_is_refused(folder: CheckpointFolder) -> None:
    refused = []

    def train_another() -> None:
        other = untrained("skipgram-negative", checkpoint_dir=folder.path)
        before = other.wv.vectors.copy()
        for resume in (False, True):
            with pytest.raises(FolderInUseError, match="is in use by another training") as caught:
                train(other, resume=resume)
            refused.append(str(caught.value))
        assert (other.wv.vectors == before).all()

    train(untrained("skipgram-negative", checkpoint_dir=folder.path), Interrupted(3000, train_another))
    assert len(refused) == 2
    assert str(folder.path) in refused[0]
    assert_is_free(folder)


def test_of_two_trainings_that_hold_a_folder_the_first_writes_no_more(
    folder: CheckpointFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one's machine did not run for a while, so the file server gave the lock to the second one."""
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)
    second = CheckpointFolder(folder.path)
    with folder.held():
        first = folder.write({}, {}).path
        with second.held():
            with pytest.raises(FolderInUseError, match="another training has resumed from checkpoint_dir"):
                folder.write({}, {})
            newest = second.write({}, {}).path
    assert folder.checkpoints() == [first, newest]


@pytest.mark.parametrize("moment", ["while it writes", "after its last look"])
def test_a_training_that_was_frozen_in_a_write_gives_the_checkpoint_no_name(
    folder: CheckpointFolder, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)
    bring_to_disk, entered = folder_module.bring_to_disk, ExitStack()

    def freeze(path: Path) -> None:
        is_moment = path.is_dir() if moment == "after its last look" else path.name == "manifest.json"
        if is_moment:
            monkeypatch.setattr(folder_module, "bring_to_disk", bring_to_disk)
            entered.enter_context(CheckpointFolder(folder.path).held())
        bring_to_disk(path)

    with folder.held(), entered:
        newest = folder.write({"of": "the first"}, {}).path
        monkeypatch.setattr(folder_module, "bring_to_disk", freeze)
        with pytest.raises(FolderInUseError, match=r"another training has resumed .* as owner 2 .* owner 1, did not"):
            folder.write({}, {})
        with pytest.raises(FolderInUseError, match="another training has resumed"):
            folder.note({"epochs_ended": 1})
        assert folder.checkpoints() == [newest]
        assert folder.notes() == {}


def test_a_thread_that_a_former_training_has_left_writes_nothing(folder: CheckpointFolder) -> None:
    """As one that began to write when its storage answered again."""
    with folder.held():
        newest = folder.write({}, {}).path
    with CheckpointFolder(folder.path).held(), pytest.raises(FolderInUseError, match="another training has resumed"):
        folder.write({}, {})
    assert folder.checkpoints() == [newest]


def test_each_training_that_takes_a_folder_raises_the_owners_number(folder: CheckpointFolder) -> None:
    numbers = []
    for _ in range(3):
        with CheckpointFolder(folder.path).held():
            owner = read_owner(folder.path / ".lock")
            assert owner is not None
            numbers.append(owner.number)
    assert numbers == [1, 2, 3]
    (folder.path / ".lock").write_bytes(b"the name that an earlier version wrote")
    assert_is_free(folder)


def test_a_training_ends_whose_folder_another_one_has_resumed_from(
    folder: CheckpointFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fcntl, "flock", lambda *_: None)
    other, entered = CheckpointFolder(folder.path), ExitStack()
    model = untrained("skipgram-negative", checkpoint_dir=folder.path, checkpoint_every="2000 words")
    with entered, pytest.raises(FolderInUseError, match="another training has resumed"):
        train(model, Interrupted(4000, lambda: entered.enter_context(other.held())))
