"""How batches, runs, windows and steps are chosen, and the number format of products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gensim_tfw2v.blocks.batch_shape import (
    OwnShape,
    Stepping,
    Trained,
    choose_batch_shape,
    choose_windows,
    has_frequent_hits,
    is_flat,
)
from gensim_tfw2v.blocks.batches import BatchShape, Windows
from gensim_tfw2v.steps.settings import choose_compute_dtype, choose_max_step_rates


def shape_of(
    counts: np.ndarray, size: int, window: int, negative: int, skip_gram: bool, tree: bool, **others: Any
) -> BatchShape:
    """Return the shape for a model; the others are fields of what is trained, how, and what the user has chosen."""
    own = {name: others.pop(name) for name in list(others) if name in OwnShape.__annotations__}
    trained = Trained(counts, size, window, negative, skip_gram, tree, others.pop("flat", False))
    return choose_batch_shape(trained, Stepping(**others), OwnShape(**own))


def even_counts(size: int) -> np.ndarray:
    return np.full(size, 100.0)


def test_batches_shrink_with_the_vocabulary_and_grow_no_further_than_the_cache() -> None:
    sizes = [shape_of(even_counts(size), 100, 5, 5, True, False).batch_tokens for size in (10, 5_000, 10**6)]
    assert sizes == sorted(sizes) and sizes[0] < sizes[1] < sizes[2]
    wide = shape_of(even_counts(10**6), 1000, 5, 5, True, False).batch_tokens
    assert wide < sizes[2]


def test_small_vocabularies_have_larger_batches_in_cbow_than_in_skip_gram() -> None:
    skip_gram, cbow = (shape_of(even_counts(1750), 100, 5, 5, sg, False).batch_tokens for sg in (True, False))
    assert (skip_gram, cbow) == (64, 128)


@pytest.mark.parametrize(("cores", "batch_tokens"), [(1, 1024), (8, 1024), (16, 512), (24, 256), (32, 256), (1000, 64)])
def test_batches_of_skip_gram_shrink_where_many_cores_train_side_by_side(cores: int, batch_tokens: int) -> None:
    assert shape_of(even_counts(10**6), 100, 5, 5, True, False, cores=cores).batch_tokens == batch_tokens
    for skip_gram, tree in ((False, False), (False, True), (True, True)):
        assert shape_of(even_counts(10**6), 100, 5, 5, skip_gram, tree, cores=cores).batch_tokens == 1024
    own = shape_of(even_counts(10**6), 100, 5, 5, True, False, batch_tokens=2000, cores=cores)
    assert own.batch_tokens == 2000


@pytest.mark.parametrize("vector_size", [50, 100, 128, 300, 500, 1000])
@pytest.mark.parametrize("skip_gram", [True, False])
def test_the_vectors_of_a_batch_take_a_megabyte_at_most(skip_gram: bool, vector_size: int) -> None:
    shape = shape_of(even_counts(10**6), vector_size, 5, 5, skip_gram, False)
    assert 2**16 <= shape.batch_tokens * vector_size * 4 <= 2**20
    long_paths = shape_of(even_counts(10**6), vector_size, 5, 0, skip_gram, True)
    assert long_paths.batch_tokens * vector_size * 4 <= 2**20


@pytest.mark.parametrize("skip_gram", [True, False])
@pytest.mark.parametrize(("negative", "tree"), [(5, False), (0, True), (5, True)])
def test_batches_of_a_large_vocabulary_are_as_large_in_every_model(skip_gram: bool, negative: int, tree: bool) -> None:
    """CBOW scores a point less with twice as many tokens."""
    assert shape_of(even_counts(10**6), 100, 5, negative, skip_gram, tree).batch_tokens == 1024


@pytest.mark.parametrize(
    ("words", "exchanged", "batch_tokens"),
    [(10**6, 2, 8192), (10**6, 4, 4096), (10**6, 20, 512), (12_000, 4, 2048), (12_000, 20, 512), (1_000, 4, 128)],
)
def test_batches_that_cost_messages_are_large_if_few_are_under_way(
    words: int, exchanged: int, batch_tokens: int
) -> None:
    for vector_size in (100, 1000):
        shape = shape_of(even_counts(words), vector_size, 5, 5, True, False, exchanged=exchanged)
        assert shape.batch_tokens == batch_tokens
    own = shape_of(even_counts(words), 100, 5, 5, True, False, batch_tokens=2000, exchanged=exchanged)
    assert own.batch_tokens == 2000


def test_skip_gram_has_large_batches_where_a_device_starts_them_slowly_and_the_vocabulary_allows() -> None:
    for words, vector_size, tokens in ((10**6, 100, 8192), (10**6, 1000, 8192), (70_000, 100, 4096), (2_000, 100, 64)):
        shape = shape_of(even_counts(words), vector_size, 5, 5, True, False, starts_slowly=True)
        assert shape.batch_tokens == tokens
    for skip_gram, tree in ((False, False), (True, True), (False, True)):
        shapes = [
            shape_of(even_counts(10**6), 100, 5, 5, skip_gram, tree, starts_slowly=slowly) for slowly in (True, False)
        ]
        assert shapes[0] == shapes[1]


def test_cbow_through_the_tree_alone_has_long_runs_in_which_few_words_stand_twice() -> None:
    alone = shape_of(even_counts(10**6), 100, 5, 0, False, True)
    assert alone.run_tokens > shape_of(even_counts(10**6), 100, 5, 5, False, True).run_tokens
    small = shape_of(np.array([3.0, 2.0]), 100, 5, 0, False, True)
    assert small.run_tokens <= small.batch_tokens


def test_tiles_give_long_vectors_longer_runs_in_skip_gram_alone() -> None:
    def shape(size: int, skip_gram: bool = True, tree: bool = False, tiled: bool = True, **own: int) -> BatchShape:
        counts = even_counts(10**6)
        return shape_of(counts, size, 5, 5, skip_gram, tree, bfloat16_products=True, tiled=tiled, **own)

    usual, long = shape(100), shape(300)
    assert long.run_tokens == 2 * usual.run_tokens
    assert long.shared_negatives == usual.shared_negatives
    for others in ({"skip_gram": False}, {"tree": True}):
        assert shape(300, **others) == shape(300, tiled=False, **others)
    for own in ({"run_tokens": usual.run_tokens}, {"batch_tokens": long.run_tokens - 1}):
        assert shape(300, **own) == shape(300, tiled=False, **own)  # with as many negatives
    assert shape(300, batch_tokens=long.run_tokens).run_tokens == long.run_tokens


def test_runs_of_a_large_vocabulary_are_longer_and_share_fewer_negatives() -> None:
    for skip_gram in (True, False):
        small, large = (shape_of(even_counts(words), 100, 5, 5, skip_gram, False) for words in (100, 10**6))
        assert large.run_tokens > small.run_tokens
        assert large.shared_negatives * small.run_tokens < small.shared_negatives * large.run_tokens


@pytest.mark.parametrize(
    ("shrink", "tree", "words", "expected"),
    [
        (True, False, 10_000, Windows.MEAN),
        (True, False, 9_999, Windows.DRAWN),
        (True, True, 10**6, Windows.DRAWN),
        (False, False, 10**6, Windows.FIXED),
        (False, True, 100, Windows.FIXED),
    ],
)
def test_windows_are_drawn_for_small_vocabularies_and_the_tree(
    shrink: bool, tree: bool, words: int, expected: Windows
) -> None:
    assert choose_windows(shrink, tree, words) is expected


@pytest.mark.parametrize(("words", "shrink", "expected"), [(10**6, True, Windows.DRAWN), (10**6, False, Windows.FIXED)])
def test_windows_are_drawn_where_running_sums_add_contexts(words: int, shrink: bool, expected: Windows) -> None:
    assert choose_windows(shrink, False, words, even_contexts=True) is expected


def visits(nodes: int, mean: float = 750.0) -> np.ndarray:
    """Return how often random walks visit nodes whose degrees differ, on average so often."""
    degrees = np.random.default_rng(1).lognormal(sigma=0.7, size=nodes)
    return np.sort(degrees / degrees.mean() * mean)[::-1]


def test_vocabularies_of_walks_are_flat_and_those_of_text_are_not() -> None:
    assert is_flat(visits(4_000))
    assert is_flat(visits(20_000, 500.0))
    for words in (1_750, 4_000, 20_000, 10**6):
        assert not is_flat(750.0 * words / np.arange(1, words + 1))


def test_a_small_corpus_is_not_flat_because_it_needs_many_steps() -> None:
    assert not is_flat(visits(4_000, 20.0))


@pytest.mark.parametrize("skip_gram", [True, False])
def test_a_flat_vocabulary_has_larger_batches(skip_gram: bool) -> None:
    def shape(words: int, flat: bool) -> BatchShape:
        return shape_of(visits(words), 128, 10, 5, skip_gram, False, flat=flat)

    as_text, flat = shape(4_000, False), shape(4_000, True)
    assert flat.batch_tokens == 1024 > as_text.batch_tokens
    assert shape(10**6, True) == shape(10**6, False)


def test_cbow_has_fewer_negatives_a_token_in_a_small_flat_vocabulary() -> None:
    def shape(flat: bool, skip_gram: bool = False, words: int = 4_000, tree: bool = False) -> tuple[int, int]:
        chosen = shape_of(visits(words), 128, 10, 5, skip_gram, tree, flat=flat)
        return chosen.run_tokens, chosen.shared_negatives

    assert (shape(False), shape(True)) == ((32, 64), (32, 32))
    assert shape(True, skip_gram=True) == shape(False, skip_gram=True)
    assert shape(True, tree=True) == shape(False, tree=True)
    assert shape(True, words=20_000) == shape(False, words=20_000)


def test_runs_of_cbow_have_fewer_negatives_a_token_where_words_of_a_small_vocabulary_occur_often() -> None:
    hubs = 1 / np.arange(1, 5_001)  # which is not flat

    def shape(mean: float, window: int = 10, tree: bool = False, in_runs: bool = True) -> tuple[int, int]:
        counts = hubs / hubs.mean() * mean
        chosen = shape_of(counts, 128, window, 5, False, tree, in_runs=in_runs)
        return chosen.run_tokens, chosen.shared_negatives

    assert (shape(100.0), shape(800.0)) == ((16, 32), (16, 16))
    assert shape(800.0, window=5) == shape(100.0, window=5)
    assert shape(800.0, tree=True) == shape(100.0, tree=True)
    assert shape(800.0, in_runs=False) == shape(100.0, in_runs=False)


def test_a_flat_vocabulary_has_smaller_batches_the_more_its_frequencies_differ() -> None:
    degrees = np.append(np.full(4_000, 100.0), np.full(40, 5_000.0))
    uneven, even = (
        shape_of(counts, 128, 10, 5, True, False, flat=True).batch_tokens for counts in (degrees, np.full(4_040, 100.0))
    )
    assert uneven < even


def test_runs_of_skip_gram_are_shorter_with_as_many_negatives_where_windows_are_drawn() -> None:
    alone, beside_tree = (shape_of(even_counts(10**6), 100, 5, 5, True, tree) for tree in (False, True))
    assert (alone.run_tokens, beside_tree.run_tokens) == (32, 16)
    assert alone.shared_negatives == beside_tree.shared_negatives == 22


@pytest.mark.parametrize(("skip_gram", "few", "many"), [(True, 22, 38), (False, 16, 32)])
def test_adagrad_has_more_negatives_in_runs_of_a_large_vocabulary(skip_gram: bool, few: int, many: int) -> None:
    def shape(adagrad: bool, words: int = 10**6, tree: bool = False) -> BatchShape:
        return shape_of(even_counts(words), 100, 5, 5, skip_gram, tree, adagrad=adagrad)

    assert [shape(adagrad).shared_negatives for adagrad in (False, True)] == [few, many]
    assert shape(True).run_tokens == shape(False).run_tokens == 32
    assert shape(True, words=1000) == shape(False, words=1000)
    assert shape(True, tree=True) == shape(False, tree=True)


def test_a_very_frequent_word_makes_batches_small() -> None:
    skewed = np.append(even_counts(10**5) / 2, 5e6)
    assert shape_of(skewed, 100, 5, 5, True, False).batch_tokens <= 64


def test_a_chosen_batch_and_number_of_negatives_are_taken() -> None:
    shape = shape_of(even_counts(1000), 100, 5, 5, True, False, batch_tokens=17, shared_negatives=3)
    assert (shape.batch_tokens, shape.shared_negatives) == (17, 3)
    assert shape.run_tokens <= 17


@pytest.mark.parametrize("skip_gram", [True, False])
def test_a_chosen_run_is_taken_unless_it_is_longer_than_a_chosen_batch(skip_gram: bool) -> None:
    counts = even_counts(10**6)
    shape = shape_of(counts, 100, 5, 5, skip_gram, False, run_tokens=20)
    assert shape.run_tokens == 20
    assert shape.batch_tokens >= 1024
    assert shape_of(counts, 100, 5, 5, skip_gram, False, batch_tokens=16, run_tokens=20).run_tokens == 16
    assert shape_of(counts, 100, 5, 0, skip_gram, True, run_tokens=20).run_tokens == 20


def test_more_negatives_a_pair_mean_more_shared_ones() -> None:
    few, many = (shape_of(even_counts(1000), 100, 5, count, True, False).shared_negatives for count in (5, 20))
    assert many > few


def test_steps_are_shorter_where_the_tree_alone_is_trained() -> None:
    assert choose_max_step_rates(True, 0) < choose_max_step_rates(True, 1) == choose_max_step_rates(True, 20)
    assert choose_max_step_rates(False, 0) == choose_max_step_rates(False, 5) == choose_max_step_rates(True, 5)


@pytest.mark.parametrize("skip_gram", [True, False])
@pytest.mark.parametrize("window", [1, 2, 3, 5, 8, 10, 20])
@pytest.mark.parametrize("words", [100, 10**6])
def test_a_run_is_compared_with_whole_registers_of_words(skip_gram: bool, window: int, words: int) -> None:
    shape = shape_of(even_counts(words), 100, window, 5, skip_gram, False)
    assert shape.run_tokens >= 2 * window - 1
    assert shape.run_tokens % 16 == 0
    assert shape.shared_negatives > 0
    assert (shape.run_tokens + 2 * window * skip_gram + shape.shared_negatives) % 16 == 0


def test_runs_grow_with_the_window() -> None:
    runs = [shape_of(even_counts(10**6), 100, window, 5, True, False).run_tokens for window in (1, 50, 500)]
    assert runs[0] < runs[1] < runs[2]


def test_accidental_hits_are_frequent_in_small_vocabularies_only() -> None:
    assert has_frequent_hits(even_counts(20), np.full(20, 1 / 20))
    assert not has_frequent_hits(even_counts(5000), np.full(5000, 1 / 5000))


@pytest.mark.parametrize(("skip_gram", "least", "batches"), [(True, 8, 4000), (False, 16, 2000)], ids=["sg", "cbow"])
def test_an_epoch_of_the_tree_takes_many_steps_however_small_the_corpus(
    skip_gram: bool, least: int, batches: int
) -> None:
    tokens = 300 * 10.0 ** np.arange(6)
    chosen = [shape_of(even_counts(300) * n / 3e4, 100, 5, 0, skip_gram, True).batch_tokens for n in tokens]
    assert chosen[0] == least
    assert chosen[2] * batches > 2 * tokens[2]  # fewer steps do for small corpora
    assert chosen == sorted(chosen) and chosen[-1] > least
    steps = tokens / chosen
    assert (np.diff(steps) > 0).all()
    assert steps[-1] >= batches


@pytest.mark.parametrize(
    ("batch_tokens", "vector_size", "fast", "expected"),
    [
        (1024, 100, True, "bfloat16"),
        (1024, 100, False, "float32"),
        (512, 32, True, "bfloat16"),
        (256, 100, True, "float32"),
        (256, 600, True, "bfloat16"),
        (64, 300, True, "float32"),
    ],
)
def test_products_are_in_bfloat16_if_that_is_faster(
    batch_tokens: int, vector_size: int, fast: bool, expected: str
) -> None:
    assert choose_compute_dtype(batch_tokens, vector_size, fast) == expected


def in_runs(counts: np.ndarray, skip_gram: bool = True, tree: bool = False, **own: int) -> BatchShape:
    """Return the shape for steps that move rows run by run, with a window of 5."""
    return shape_of(counts, 100, 5, 0 if tree else 5, skip_gram, tree, in_runs=True, **own)


@pytest.mark.parametrize(("tokens", "batch_tokens"), [(10**4, 32), (10**5, 256), (10**6, 1024), (10**8, 1024)])
def test_an_epoch_has_some_hundred_learning_rates_where_runs_move_rows(tokens: int, batch_tokens: int) -> None:
    assert in_runs(np.full(10**4, tokens / 10**4)).batch_tokens == batch_tokens


@pytest.mark.parametrize(("share", "run_tokens"), [(0.01, 32), (0.08, 32), (0.125, 16), (0.5, 8), (1.0, 8)])
def test_runs_that_move_rows_hold_a_frequent_word_about_three_times(share: float, run_tokens: int) -> None:
    others = np.full(20_000, (1 - share) * 50)
    assert in_runs(np.append(others, share * 10**6)).run_tokens == run_tokens
    assert in_runs(np.append(others, share * 10**6), run_tokens=40).run_tokens == 40


@pytest.mark.parametrize(("cores", "run_tokens"), [(1, 256), (4, 256), (8, 128), (16, 64), (64, 64)])
def test_runs_of_cbow_through_the_tree_are_shorter_on_many_cores(cores: int, run_tokens: int) -> None:
    assert in_runs(even_counts(10**6), skip_gram=False, tree=True, cores=cores).run_tokens == run_tokens
    assert in_runs(even_counts(10**6), skip_gram=True, tree=True, cores=cores).run_tokens == 64
    plain = shape_of(even_counts(10**6), 100, 5, 0, False, True, cores=cores)
    assert plain.run_tokens == 64


@pytest.mark.parametrize(("words", "flat", "run_tokens"), [(9_999, False, 8), (9_999, True, 64), (10_000, False, 64)])
def test_runs_of_skip_gram_through_the_tree_are_short_on_small_text(words: int, flat: bool, run_tokens: int) -> None:
    shape = shape_of(even_counts(words), 100, 5, 0, True, True, flat=flat, in_runs=True)
    assert shape.run_tokens == run_tokens
