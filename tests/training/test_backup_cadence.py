"""Copies of vectors that take long are made after half a minute, and take a twentieth of the time."""

from __future__ import annotations

import pytest
from support.clock import Clock

from gensim_tfw2v.training import backup_cadence
from gensim_tfw2v.training.backup_cadence import BackupCadence


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(backup_cadence, "time", found)
    return found


def test_the_first_copy_is_due_after_half_a_minute(clock: Clock) -> None:
    cadence = BackupCadence()
    clock.now += 29
    assert not cadence.is_due()
    clock.now += 1
    assert cadence.is_due()
    cadence.record_equal()
    assert not cadence.is_due()


def test_a_copy_is_due_when_training_has_taken_twenty_times_as_long_as_the_last_copy(clock: Clock) -> None:
    cadence = BackupCadence()
    clock.now += 4
    cadence.record_copy(began=clock.now - 4)
    clock.now += 79
    assert not cadence.is_due()
    clock.now += 1
    assert cadence.is_due()
