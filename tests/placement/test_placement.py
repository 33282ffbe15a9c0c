"""What the training loop relies on, wherever tables live: runs against every placement."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from support.example_blocks import SETTINGS, WORDS, maker_from, random_tables, read, work_on
from support.no_sentences import NO_SENTENCES
from support.placements import (
    PLACEMENTS,
    ROUNDING_PLACEMENTS,
    leases_on,
    on_cluster,
    shared_cluster,
)

from gensim_tfw2v.blocks.batches import Block, Windows
from gensim_tfw2v.blocks.chunk_task import ChunkTask, prepare
from gensim_tfw2v.placement.contract import ModelTables, Placement
from gensim_tfw2v.placement.local.placement import LocalPlacement
from gensim_tfw2v.placement.remote.tables import RemoteTables

PEAK_RESET = Path("/proc/self/clear_refs")
EVERY_PLACEMENT = PLACEMENTS | ROUNDING_PLACEMENTS
SLOW = {name: pytest.mark.slow for name in ROUNDING_PLACEMENTS}


@pytest.fixture(params=[pytest.param(name, marks=SLOW.get(name, ())) for name in EVERY_PLACEMENT])
def make_placement(request: pytest.FixtureRequest) -> Iterator[Callable[..., Placement]]:
    """Return a function (workers, first negative word) → placement; all are closed in the end."""
    made: list[Placement] = []

    def make(workers: int = 1, first_negative: int = 0) -> Placement:
        made.append(EVERY_PLACEMENT[request.param](SETTINGS, maker_from(first_negative), workers))
        return made[-1]

    yield make
    for placement in made:
        placement.close()


def peak_growth(function: Callable[[], None]) -> int:
    """Return the most bytes that this process had in a call beyond what it had before."""
    before = psutil.Process().memory_info().rss
    PEAK_RESET.write_text("5")
    function()
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) * 1024 - before


def test_what_is_loaded_is_read_back(make_placement: Callable[..., Placement]) -> None:
    placement = make_placement()
    placement.load(random_tables())
    np.testing.assert_array_equal(read(placement).inputs, random_tables().inputs)
    np.testing.assert_array_equal(read(placement).outputs, random_tables().outputs)


@pytest.mark.skipif(not PEAK_RESET.exists(), reason="only Linux forgets a process's peak of memory")
def test_loading_and_reading_back_take_no_further_copy_of_a_table() -> None:
    inputs, outputs = (np.ones((2**16, 256), np.float32) for _ in range(2))
    tables = ModelTables(inputs, outputs, None, np.ones(1, np.float32))
    with closing(LocalPlacement(SETTINGS, maker_from(0))) as placement:
        placement.load(random_tables())  # of few words, so that all that loading needs is there
    with closing(LocalPlacement(SETTINGS, maker_from(0))) as placement:
        loading = peak_growth(lambda: placement.load(tables))
        placement.train_chunk(work_on(0))
        reading = peak_growth(lambda: placement.read_into(tables))
    assert loading < 2.5 * inputs.nbytes  # the placement's own two
    assert reading < 0.5 * inputs.nbytes


@pytest.mark.skipif(not PEAK_RESET.exists(), reason="only Linux forgets a process's peak of memory")
def test_tables_of_other_sizes_take_no_memory_for_graphs() -> None:
    """TensorFlow prepares a graph for each declared shape of tables, and keeps a megabyte for it."""

    def train_with(sizes: range) -> None:
        for size in sizes:
            rows = np.ones((WORDS, size), np.float32)
            with closing(LocalPlacement(SETTINGS, maker_from(0))) as placement:
                placement.load(ModelTables(rows, rows, None, np.ones(1, np.float32)))
                placement.train_chunk(work_on(0))

    train_with(range(8, 12))
    assert peak_growth(lambda: train_with(range(12, 44))) < 8e6


def test_loading_again_replaces_everything(make_placement: Callable[..., Placement]) -> None:
    placement = make_placement()
    placement.load(random_tables(0))
    placement.train_chunk(work_on(0))
    placement.load(random_tables(1))
    np.testing.assert_array_equal(read(placement).inputs, random_tables(1).inputs)


def test_training_leaves_the_loaded_arrays_alone(make_placement: Callable[..., Placement]) -> None:
    placement, tables = make_placement(), random_tables()
    placement.load(tables)
    placement.train_chunk(work_on(0))
    np.testing.assert_array_equal(tables.inputs, random_tables().inputs)
    assert not np.array_equal(read(placement).inputs, tables.inputs)


def test_rows_that_no_token_touches_stay_bit_for_bit(make_placement: Callable[..., Placement]) -> None:
    placement = make_placement(first_negative=20)
    placement.load(random_tables())
    placement.train_chunk(work_on(20))
    untouched = np.r_[0:20, 30:WORDS]
    np.testing.assert_array_equal(read(placement).inputs[untouched], random_tables().inputs[untouched])
    np.testing.assert_array_equal(read(placement).outputs[untouched], random_tables().outputs[untouched])


def test_one_worker_gives_the_same_bits_twice(make_placement: Callable[..., Placement]) -> None:
    results = []
    for _ in range(2):
        placement = make_placement()
        placement.load(random_tables())
        for seed in range(3):
            placement.train_chunk(work_on(0, seed))
        results.append(read(placement).inputs)
    np.testing.assert_array_equal(*results)


def test_batches_that_are_not_measured_report_no_loss(make_placement: Callable[..., Placement]) -> None:
    placement = make_placement()
    placement.load(random_tables())
    trained = placement.train_chunk(work_on(0, exact_loss=False))
    assert trained.batches.losses.shape == trained.pairs.shape == trained.measured.shape
    assert trained.measured.sum() == 1
    assert trained.batches.losses[trained.measured] > 0
    assert not trained.batches.losses[~trained.measured].any()


def test_a_rate_of_zero_measures_and_changes_nothing(make_placement: Callable[..., Placement]) -> None:
    placement = make_placement()
    placement.load(random_tables())
    first, second = (placement.train_chunk(work_on(0, rate=0.0)) for _ in range(2))
    np.testing.assert_array_equal(first.batches.losses, second.batches.losses)
    np.testing.assert_array_equal(read(placement).inputs, random_tables().inputs)


def test_what_was_trained_is_counted(make_placement: Callable[..., Placement]) -> None:
    placement = make_placement()
    placement.load(random_tables())
    prepared = prepare(maker_from(0), work_on(0))
    trained = placement.train_chunk(work_on(0))
    assert prepared is not None
    assert trained.tokens == 60
    np.testing.assert_array_equal(trained.pairs, prepared.block.pairs)
    np.testing.assert_array_equal(trained.batches.touched_rows, places_with_pairs(prepared.block))
    assert trained.batches.clipped_rows.shape == trained.pairs.shape
    assert trained.measured.all()
    assert trained.seconds_preparing > 0
    assert trained.seconds_stepping > 0


def places_with_pairs(block: Block) -> list[int]:
    """Return how many places of each batch have pairs: tokens with contexts, their contexts, and their negatives."""
    counts = np.zeros(len(block.left), int)
    for batch, run in np.ndindex(*block.left.shape[:2]):
        left, right = block.left[batch, run], block.right[batch, run]
        tokens = np.flatnonzero(left + right)
        near = {p for t in tokens for p in range(t - left[t], t + right[t] + 1) if p != t}
        counts[batch] += len(tokens) + len(near) + SETTINGS.shared_negatives * bool(len(tokens))
    found: list[int] = counts.tolist()
    return found


@pytest.mark.parametrize(("max_step", "share"), [(1e-9, 1), (1e9, 0)])
def test_rows_whose_steps_are_clipped_are_counted_in_every_batch(max_step: float, share: int) -> None:
    """No row of random numbers is left without a gradient."""
    maker, work = maker_from(0), work_on(0, exact_loss=False)
    maker = replace(maker, windows=Windows.FIXED)
    work.content.ids[:] = np.arange(60) % 10  # every word has contexts in every batch
    with closing(LocalPlacement(replace(SETTINGS, max_step=max_step), maker)) as placement:
        placement.load(random_tables())
        trained = placement.train_chunk(work)
    assert not trained.measured.all()
    assert (trained.batches.touched_rows > 0).all()
    np.testing.assert_array_equal(trained.batches.clipped_rows, share * trained.batches.touched_rows)


def test_each_batch_takes_its_own_rate(make_placement: Callable[..., Placement]) -> None:
    placement, work = make_placement(), work_on(0, rate=0.0, last_rate=0.05)
    prepared = prepare(maker_from(0), work)
    assert prepared is not None and prepared.learning_rates[0] == 0
    placement.load(random_tables())
    placement.train_chunk(work)
    block = prepared.block
    moved = np.flatnonzero((read(placement).inputs != random_tables().inputs).any(axis=1))
    np.testing.assert_array_equal(moved, np.unique(block.input_ids[1:][(block.left + block.right)[1:] > 0]))


def test_a_chunk_of_which_subsampling_leaves_nothing_trains_nothing(make_placement: Callable[..., Placement]) -> None:
    placement = make_placement()
    placement.load(random_tables())
    nothing = ChunkTask(NO_SENTENCES, (1,), 0.05, 0.05, exact_loss=True)
    trained = placement.train_chunk(nothing)
    assert (trained.tokens, trained.batches.losses.size, trained.pairs.size) == (0, 0, 0)
    np.testing.assert_array_equal(read(placement).inputs, random_tables().inputs)


def test_chunks_side_by_side_move_each_row_as_one_after_the_other_or_up_to_half_as_far(
    make_placement: Callable[..., Placement],
) -> None:
    """A placement may take the mean of what two workers make of a row that both may have changed."""
    # Steps so small that it does not show who came first; the chunks share their negatives only.
    work = [work_on(0, rate=3e-5), work_on(20, rate=3e-5)]
    together = make_placement(2, first_negative=30)
    together.load(random_tables())
    threads = [threading.Thread(target=together.train_chunk, args=(chunk,)) for chunk in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    one_by_one = make_placement(1, first_negative=30)
    one_by_one.load(random_tables())
    for chunk in work:
        one_by_one.train_chunk(chunk)
    trained = np.r_[0:10, 20:30]
    whole = (read(one_by_one).inputs - random_tables().inputs)[trained].astype(np.float64)
    found = (read(together).inputs - random_tables().inputs)[trained].astype(np.float64)
    shares = (found * whole).sum(axis=1) / (whole * whole).sum(axis=1)
    assert np.linalg.norm(whole, axis=1).min() > 1e-4
    assert shares.min() > 0.49
    assert shares.max() < 1.01
    np.testing.assert_allclose(found, shares[:, None] * whole, atol=2e-6)


def test_locked_rows_do_not_move(make_placement: Callable[..., Placement]) -> None:
    placement, tables = make_placement(), random_tables()
    tables.lock_factors = (np.arange(WORDS) % 2).astype(np.float32)
    placement.load(tables)
    placement.train_chunk(work_on(0))
    moved = (read(placement).inputs != random_tables().inputs).any(axis=1)
    assert not moved[0::2].any()
    assert moved[1:10:2].all()


def test_rows_that_travel_as_bfloat16_are_rounded_on_the_way_and_nowhere_else() -> None:
    def rounded(values: np.ndarray) -> np.ndarray:
        """Return the nearest numbers of eight significant bits."""
        fraction, exponent = np.frexp(values)
        return np.ldexp(np.round(fraction * 2**8) / 2**8, exponent).astype(np.float32)

    before, seen, after = random_tables(), random_tables(), random_tables()
    local, remote = LocalPlacement(SETTINGS, maker_from(0)), on_cluster(SETTINGS, maker_from(0), 1, "bfloat16")
    with closing(local), closing(remote):
        for table in ("inputs", "outputs"):
            setattr(seen, table, rounded(getattr(before, table)))
        local.load(seen)
        remote.load(before)
        for placement in (local, remote):
            placement.train_chunk(work_on(0))
        local.read_into(after)
        for table in ("inputs", "outputs"):
            start, change = getattr(before, table), getattr(after, table) - getattr(seen, table)
            assert np.abs(change).max() > 1e-3
            # Changes that local and remote training round apart may fall to different sides: 2**-8 of them.
            np.testing.assert_allclose(
                getattr(read(remote), table), start + rounded(change), rtol=1e-6, atol=2**-8 * np.abs(change).max()
            )
            np.testing.assert_array_less(
                np.abs(getattr(read(remote), table) - start - rounded(change)).mean(), 1e-3 * np.abs(change).mean()
            )


def test_loss_falls_with_training(make_placement: Callable[..., Placement]) -> None:
    placement = make_placement()
    placement.load(random_tables())
    before = placement.train_chunk(work_on(0, rate=0.0)).batches.losses.sum()
    for seed in range(20):
        placement.train_chunk(work_on(0, seed))
    assert placement.train_chunk(work_on(0, rate=0.0)).batches.losses.sum() < before


def test_tables_whose_loading_was_interrupted_are_freed_by_the_next_training(monkeypatch: pytest.MonkeyPatch) -> None:
    before = leases_on(shared_cluster())
    interrupted = on_cluster(SETTINGS, maker_from(0), workers=1)
    load = RemoteTables.load

    def load_and_be_interrupted(*arguments: Any) -> None:
        load(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as interrupting:
        interrupting.setattr(RemoteTables, "load", load_and_be_interrupted)
        with pytest.raises(KeyboardInterrupt):
            interrupted.load(random_tables())
    interrupted.close()
    another = on_cluster(SETTINGS, maker_from(0), workers=1)
    another.load(random_tables())
    another.close()
    assert leases_on(shared_cluster()) == before
