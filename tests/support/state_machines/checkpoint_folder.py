"""Trainings that share a folder of checkpoints: they take it over from each other, stop in the midst of a write, crash.

At each moment one training owns the folder, the one that has taken it last. What an older one writes is refused,
however long it was frozen, and wherever in a write that was.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from gensim_tfw2v.checkpoints import folder as folder_module
from gensim_tfw2v.checkpoints.arrays import ArrayToWrite
from gensim_tfw2v.checkpoints.errors import FolderInUseError
from gensim_tfw2v.checkpoints.folder import Checkpoint, CheckpointFolder

KEPT = 2
PLACES = st.integers(0, 2)
MOMENTS = ["made", "array", "checked", "moved"]
"""Where in a write a training may be frozen: its folder is made, an array is half written, the owner is checked, the
checkpoint has its name."""
ROWS = np.arange(6, dtype=np.float32).reshape(3, 2)


class CrashError(Exception):
    """Ends a training as an error of its own does."""


class Training:
    """A training that may hold the folder, and what it writes."""

    def __init__(self, path: Path) -> None:
        self.folder = CheckpointFolder(path, KEPT)
        self.held = ExitStack()
        self.is_running = self.has_held = False
        self.progress = 0


class CheckpointFolders(RuleBasedStateMachine):
    """Compares the folder with the list of writes that the owner of that moment has made."""

    def __init__(self) -> None:
        super().__init__()
        self.path = Path(tempfile.mkdtemp(prefix="machine-"))
        self.trainings = [Training(self.path) for _ in range(3)]
        self.owner: Training | None = None
        self.newest: list[Any] = []  # [training, progress] of the checkpoint to resume from
        self.beyond = 0  # checkpoints whose writers were frozen before they removed older ones
        self.noted: dict[str, Any] = {}
        self.in_the_midst: dict[str, Callable[[], None]] = {}  # by the moment of the write that runs
        self.patched = pytest.MonkeyPatch()
        self.patched.setattr(folder_module, "bring_to_disk", self._brought)
        self.patched.setattr(os, "fsync", lambda _: None)

    @initialize(have_locks=st.booleans())
    def choose(self, have_locks: bool) -> None:
        """Begin on a storage with locks, or on one that gives a lock to everybody."""
        self.have_locks = have_locks
        if not have_locks:
            self.patched.setattr(folder_module, "lock_file", lambda _: None)

    def teardown(self) -> None:
        """Close what is open."""
        for training in self.trainings:
            training.held.close()
        self.patched.undo()
        shutil.rmtree(self.path)

    # -- steps ---------------------------------------------------------------------------------------------------------

    def running(self) -> list[int]:
        """Return the numbers of the trainings that run."""
        return [number for number, training in enumerate(self.trainings) if training.is_running]

    def one_of(self, place: int) -> int:
        """Return the number of a training that runs; without one, begin one first."""
        if not self.running():
            self._begin(place % len(self.trainings))
        running = self.running()
        return running[place % len(running)]

    @rule(number=PLACES)
    def begin(self, number: int) -> None:
        """Have a training take the folder, and resume from the newest checkpoint."""
        if not self.trainings[number].is_running:
            self._begin(number)

    def _begin(self, number: int) -> None:
        is_held = any(training.is_running for training in self.trainings)
        training = self.trainings[number] = Training(self.path)
        training.folder.prepare()
        try:
            training.held.enter_context(training.folder.held())
        except FolderInUseError:
            assert self.have_locks
            assert is_held
            return
        assert not (self.have_locks and is_held), "two trainings hold one folder"
        training.is_running = training.has_held = True
        found = training.folder.newest()
        assert (found.content["of"] if found else []) == self.newest
        training.progress = self.newest[1] if self.newest else 0
        self.owner = training

    @rule(place=PLACES)
    def write(self, place: int) -> None:
        """Have a training write a checkpoint."""
        self._write(self.one_of(place))

    @rule(
        place=PLACES,
        moment=st.sampled_from(MOMENTS),
        distance=st.integers(1, 2),
        writes=st.integers(0, 2),
        ends=st.booleans(),
    )
    def write_frozen(self, place: int, moment: str, distance: int, writes: int, ends: bool) -> None:
        """Freeze a training in the midst of a write, in which another one takes the folder and writes."""
        number = self.one_of(place)
        other = (number + distance) % len(self.trainings)

        def meanwhile() -> None:
            if not self.trainings[other].is_running:
                self._begin(other)
            for _ in range(writes if self.trainings[other].is_running else 0):
                self._write(other)
            if ends:
                self._end(other)

        self._write(number, moment, meanwhile)

    @rule(number=PLACES)
    def write_late(self, number: int) -> None:
        """Have a thread write whose training has ended: the storage had hung."""
        if self.trainings[number].has_held:
            self._write(number)

    def _write(self, number: int, moment: str = "", meanwhile: Callable[[], None] | None = None) -> None:
        training = self.trainings[number]
        training.progress += 1
        written = [number, training.progress]
        was_owner = training is self.owner

        def go_on() -> None:
            if moment == "moved" and was_owner:  # it was the newest when it got its name
                self.newest = written
                self.beyond += 1
            assert meanwhile is not None
            meanwhile()

        outer, self.in_the_midst = self.in_the_midst, {} if meanwhile is None else {moment: go_on}
        try:
            self._written(training, {"of": written})
        except FolderInUseError:
            assert training is not self.owner
        else:
            assert training is self.owner, "an older owner has written"
            self.newest, self.beyond = written, 0
        finally:
            self.in_the_midst = outer

    def _written(self, training: Training, content: dict[str, Any]) -> None:
        def pieces() -> Iterator[Any]:
            self._reach("made")
            yield ROWS[:1]
            self._reach("array")
            yield ROWS[1:]

        training.folder.write(content, {"rows": ArrayToWrite(ROWS.shape, ROWS.dtype, pieces)})

    def _brought(self, path: Path) -> None:
        """Stand for `bring_to_disk`, which a write calls with its folder and later with the folder of all."""
        if path == self.path:
            self._reach("moved")
        elif path.is_dir():
            self._reach("checked")

    def _reach(self, moment: str) -> None:
        if moment in self.in_the_midst:
            self.in_the_midst.pop(moment)()

    @rule(place=PLACES, moment=st.sampled_from(MOMENTS[:3]))
    def fail(self, place: int, moment: str) -> None:
        """End a training by an error in the midst of a write."""
        number = self.one_of(place)
        training = self.trainings[number]

        def crash() -> None:
            raise CrashError

        self.in_the_midst = {moment: crash}
        with pytest.raises((CrashError, FolderInUseError)):
            self._written(training, {"of": [number, training.progress + 1]})
        self.in_the_midst = {}
        self._end(number)

    @rule(place=PLACES)
    def end(self, place: int) -> None:
        """End a training, or have it crash: the lock is free."""
        self._end(self.one_of(place))

    def _end(self, number: int) -> None:
        self.trainings[number].held.close()
        self.trainings[number].is_running = False

    @rule(place=PLACES, ended=st.integers(0, 9))
    def note(self, place: int, ended: int) -> None:
        """Have a training write its notes."""
        training = self.trainings[self.one_of(place)]
        try:
            training.folder.note({"epochs_ended": ended})
        except FolderInUseError:
            assert training is not self.owner
        else:
            assert training is self.owner, "an older owner has written notes"
            self.noted = {"epochs_ended": ended}

    # -- what always holds ---------------------------------------------------------------------------------------------

    @invariant()
    def newest_is_the_owners(self) -> None:
        """The newest checkpoint is the last one that an owner wrote, and each is whole."""
        folder = CheckpointFolder(self.path, KEPT)
        found = folder.newest()
        assert (found.content["of"] if found else []) == self.newest
        for path in folder.checkpoints():
            checkpoint = Checkpoint(path)
            assert (checkpoint.array("rows") == ROWS).all()
        assert len(folder.checkpoints()) <= KEPT + self.beyond
        assert folder.notes() == self.noted

    @invariant()
    def nothing_is_left(self) -> None:
        """No unfinished folder is left by writes that have ended."""
        assert not [path for path in self.path.iterdir() if path.name.startswith(".tfw2v-")]
