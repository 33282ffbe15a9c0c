"""Costs of processors: stored ones, and those that are calibrated and kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gensim_tfw2v.planning import calibration, profiles
from gensim_tfw2v.planning.calibration import ClusterCosts, calibrate, fitted_costs, measured_or_stored
from gensim_tfw2v.planning.corpus_sample import estimate_corpus
from gensim_tfw2v.planning.frequencies import TEXT_REPETITION
from gensim_tfw2v.planning.profiles import AMX, AVX2, MODES, STORED, RowCost


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(profiles, "processor_name", lambda: "here")
    return tmp_path


def test_stored_profiles_have_the_costs_of_all_modes() -> None:
    assert all(profile.steps.keys() == MODES.keys() for profile in STORED.values())


@pytest.mark.parametrize(("has_tiles", "expected"), [(True, AMX), (False, AVX2)])
def test_the_nearest_stored_profile_is_the_default(
    monkeypatch: pytest.MonkeyPatch, has_tiles: bool, expected: object
) -> None:
    monkeypatch.setattr(profiles, "multiplies_tiles", lambda: has_tiles)
    assert profiles.profile_named(None) is expected


def test_a_calibrated_profile_is_kept_for_its_processor(cache: Path) -> None:
    measured = replace(AVX2, processor="here", start_seconds=7.5)
    path = profiles.write_calibrated(measured)
    assert path == cache / "gensim_tfw2v" / "costs.json"
    assert [file.name for file in path.parent.iterdir()] == ["costs.json"]
    assert profiles.profile_named(None) == measured
    assert profiles.profile_named("calibrated") == measured
    profiles.write_calibrated(replace(measured, processor="another one"))
    assert profiles.profile_named(None) in STORED.values()
    assert profiles.profile_named("avx2") is AVX2


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("{", "cannot be read"),
        ('{"format": "other"}', "has not the format"),
        ('{"format": "gensim_tfw2v costs 1"}', "cannot be read"),
        ("[]", "cannot be read"),
        (None, "nothing is calibrated"),
    ],
)
def test_a_profile_that_cannot_be_read_is_an_error_with_its_file(
    cache: Path, written: str | None, message: str
) -> None:
    path = cache / "gensim_tfw2v" / "costs.json"
    if written is not None:
        path.parent.mkdir()
        path.write_text(written)
    with pytest.raises(ValueError, match=message) as raised:
        profiles.profile_named("calibrated")
    assert str(path) in str(raised.value)
    assert "--calibrate" in str(raised.value)


def test_negative_costs_are_refused() -> None:
    path = profiles.write_calibrated(replace(AMX, start_seconds=-1.0))
    with pytest.raises(ValueError, match=r"start_seconds is -1\.0"):
        profiles.read_calibrated()
    assert path.exists()


def test_an_unknown_profile_is_an_error_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'foo'; choose amx, avx2, calibrated"):
        profiles.profile_named("foo")


def test_costs_are_found_again_in_what_they_add_up_to() -> None:
    runs = [
        ClusterCosts(
            block_words=block,
            bytes_a_word=sent,
            worker=4.0 * sent + 20e6 / block,
            server=1.5 * sent + 3e6 / block,
            coordinator=90.0 + 5e6 / block,
        )
        for block, sent in ((16_384, 300.0), (131_072, 90.0), (65_536, 400.0))
    ]
    worker, server, of_word, of_block = fitted_costs(runs)
    assert (worker.nanoseconds_a_byte, worker.milliseconds_a_block) == pytest.approx((4.0, 20.0))
    assert (server.nanoseconds_a_byte, server.milliseconds_a_block) == pytest.approx((1.5, 3.0))
    assert (of_word, of_block) == pytest.approx((90.0, 5.0))


def test_words_of_the_calibrating_corpus_repeat_as_in_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "_WORDS", 100_000)
    calibration.write_corpus(str(tmp_path / "corpus.txt"))
    found = estimate_corpus(tmp_path / "corpus.txt", min_count=1)
    assert found.words == 100_000
    assert found.frequencies.repetition == pytest.approx(TEXT_REPETITION, rel=0.15)


def test_costs_that_other_programs_hid_are_those_of_a_stored_profile() -> None:
    said: list[str] = []
    assert measured_or_stored(AVX2.worker, said.append) == AVX2.worker
    assert said == []
    assert measured_or_stored(RowCost(0.0, 0.0), said.append) in [profile.worker for profile in STORED.values()]
    assert len(said) == 1 and "calibrate again when the machine is idle" in said[0]


@pytest.mark.slow
def test_this_machine_can_be_calibrated() -> None:
    said: list[str] = []
    profile = calibrate(said.append)
    assert len(said) > 5
    profiles.write_calibrated(profile)
    assert profiles.read_calibrated() == profile
    assert all(step.fixed + 100 * step.of_a_number > 0 for step in profile.steps.values())
    assert profile.worker.nanoseconds_a_byte + profile.worker.milliseconds_a_block > 0
    assert profile.memory_bytes_a_second > 1e8
