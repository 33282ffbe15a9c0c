"""What the training loop relies on, wherever tables live: runs against every placement."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from placements import PLACEMENTS

from gensim_tfw2v.batches import BatchShape, Block, BlockMaker
from gensim_tfw2v.placement import ModelTables, Placement, StepSettings
from gensim_tfw2v.vocabulary import NegativeSampler

WORDS, SIZE = 40, 6
SETTINGS = StepSettings(
    skip_gram=True,
    mean_context=True,
    window=2,
    run_tokens=4,
    negative=3,
    shared_negatives=4,
    hierarchical_softmax=False,
    spare_targets=True,
    update_bound=1.0,
)


@pytest.fixture(params=PLACEMENTS)
def make_placement(request: pytest.FixtureRequest) -> Iterator[Callable[[int], Placement]]:
    """Return a function (workers) → placement; all are closed in the end."""
    made: list[Placement] = []

    def make(workers: int = 1) -> Placement:
        made.append(PLACEMENTS[request.param](SETTINGS, workers))
        return made[-1]

    yield make
    for placement in made:
        placement.close()


def random_tables(seed: int = 0) -> ModelTables:
    """Return tables of normal random numbers."""
    rng = np.random.default_rng(seed)
    inputs, outputs = (rng.normal(size=(WORDS, SIZE)).astype(np.float32) for _ in range(2))
    return ModelTables(inputs, outputs, None, np.ones(1, np.float32))


def block_of(first_word: int, seed: int = 0) -> Block:
    """Return a block over ten words and their negatives, of which there are a few batches."""
    cumulative = np.zeros(WORDS, np.uint32)
    cumulative[first_word:] = np.minimum(np.arange(1, WORDS - first_word + 1), 10) * 2**27
    maker = BlockMaker(True, 2, True, BatchShape(16, 4, 4), None, NegativeSampler(cumulative), None)
    rng = np.random.default_rng(seed)
    ids = (first_word + rng.integers(0, 10, 60)).astype(np.int32)
    block = maker.make(ids, np.full(6, 10, np.int32), rng)
    assert block is not None and len(block.pairs) > 2
    return block


def train(placement: Placement, block: Block, rate: float = 0.05, measured: bool = True) -> np.ndarray:
    """Return the losses of the block's batches."""
    batches = len(block.pairs)
    return placement.train_block(block, np.full(batches, rate, np.float32), np.full(batches, measured)).losses


def read(placement: Placement) -> ModelTables:
    """Return a fresh copy of what the placement holds."""
    tables = random_tables(seed=99)
    placement.read_into(tables)
    return tables


def test_what_is_loaded_is_read_back(make_placement: Callable[..., Placement]) -> None:
    placement = make_placement()
    placement.load(random_tables())
    np.testing.assert_array_equal(read(placement).inputs, random_tables().inputs)
    np.testing.assert_array_equal(read(placement).outputs, random_tables().outputs)


def test_loading_again_replaces_everything(make_placement: Callable[..., Placement]) -> None:
    placement = make_placement()
    placement.load(random_tables(0))
    train(placement, block_of(0))
    placement.load(random_tables(1))
    np.testing.assert_array_equal(read(placement).inputs, random_tables(1).inputs)


def test_training_leaves_the_loaded_arrays_alone(make_placement: Callable[..., Placement]) -> None:
    placement, tables = make_placement(), random_tables()
    placement.load(tables)
    train(placement, block_of(0))
    np.testing.assert_array_equal(tables.inputs, random_tables().inputs)
    assert not np.array_equal(read(placement).inputs, tables.inputs)


def test_rows_that_no_token_touches_stay_bit_for_bit(make_placement: Callable[..., Placement]) -> None:
    placement = make_placement()
    placement.load(random_tables())
    train(placement, block_of(20))
    untouched = np.r_[0:20, 30:WORDS]
    np.testing.assert_array_equal(read(placement).inputs[untouched], random_tables().inputs[untouched])
    np.testing.assert_array_equal(read(placement).outputs[untouched], random_tables().outputs[untouched])


def test_one_worker_gives_the_same_bits_twice(make_placement: Callable[..., Placement]) -> None:
    results = []
    for _ in range(2):
        placement = make_placement()
        placement.load(random_tables())
        for seed in range(3):
            train(placement, block_of(0, seed))
        results.append(read(placement).inputs)
    np.testing.assert_array_equal(*results)


def test_batches_that_are_not_measured_report_no_loss(make_placement: Callable[..., Placement]) -> None:
    placement = make_placement()
    placement.load(random_tables())
    block = block_of(0)
    measured = np.arange(len(block.pairs)) == 1
    losses = placement.train_block(block, np.zeros(len(block.pairs), np.float32), measured).losses
    assert losses.shape == block.pairs.shape
    assert losses[1] > 0
    assert not losses[~measured].any()


def test_a_rate_of_zero_measures_and_changes_nothing(make_placement: Callable[..., Placement]) -> None:
    placement = make_placement()
    placement.load(random_tables())
    first, second = train(placement, block_of(0), rate=0.0), train(placement, block_of(0), rate=0.0)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(read(placement).inputs, random_tables().inputs)


def test_each_batch_takes_its_own_rate(make_placement: Callable[..., Placement]) -> None:
    placement, block = make_placement(), block_of(0)
    rates = np.zeros(len(block.pairs), np.float32)
    rates[-1] = 0.05
    placement.load(random_tables())
    placement.train_block(block, rates, np.zeros(len(rates), bool))
    moved = np.flatnonzero((read(placement).inputs != random_tables().inputs).any(axis=1))
    np.testing.assert_array_equal(moved, np.unique(block.input_ids[-1][(block.left + block.right)[-1] > 0]))


def test_blocks_of_different_words_train_side_by_side_as_one_after_the_other(
    make_placement: Callable[..., Placement],
) -> None:
    blocks = [block_of(0), block_of(20)]
    together = make_placement(2)
    together.load(random_tables())
    threads = [threading.Thread(target=train, args=(together, block)) for block in blocks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    one_by_one = make_placement()
    one_by_one.load(random_tables())
    for block in blocks:
        train(one_by_one, block)
    np.testing.assert_allclose(read(together).inputs, read(one_by_one).inputs, atol=1e-6)


def test_locked_rows_do_not_move(make_placement: Callable[..., Placement]) -> None:
    placement, tables = make_placement(), random_tables()
    tables.lock_factors = (np.arange(WORDS) % 2).astype(np.float32)
    placement.load(tables)
    train(placement, block_of(0))
    moved = (read(placement).inputs != random_tables().inputs).any(axis=1)
    assert not moved[0::2].any()
    assert moved[1:10:2].all()


def test_loss_falls_with_training(make_placement: Callable[..., Placement]) -> None:
    placement = make_placement()
    placement.load(random_tables())
    before = train(placement, block_of(0), rate=0.0).sum()
    for seed in range(20):
        train(placement, block_of(0, seed))
    assert train(placement, block_of(0), rate=0.0).sum() < before
