"""The functions of the plain step do with a batch what plain loops over NumPy arrays do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.batch_calls import FUNCTIONS, IDS, run_call, valid_call, with_states
from support.batch_cbow import cbow, check_cbow
from support.batch_contexts import check_moved_contexts, check_summed_contexts, some_contexts
from support.batch_even_contexts import (
    check_moved_even_contexts,
    check_summed_even_contexts,
    contexts_of_continued_runs,
    some_even_contexts,
)
from support.batch_huffman import HuffmanPaths, check_huffman_paths, huffman_paths
from support.batch_rows import check_gathered_rows, check_moved_rows
from support.operation_inputs import ADAGRAD_FACTOR, ADAGRAD_START, NO_FACTORS, ROWS, Table, normal, some_token_weights
from support.operation_rows import check_added_rows, check_read_and_written_rows

from gensim_tfw2v import tuning
from gensim_tfw2v.blocks.huffman import build_huffman_tree
from gensim_tfw2v.steps.adagrad import rate_factor
from gensim_tfw2v.steps.kernel import plain_kernel
from gensim_tfw2v.steps.plain.table import StepLimits, StepTable

SIZE = 17
FACTORS = pytest.mark.parametrize("factors", [NO_FACTORS, np.array([1.0, 0.0, 0.5], np.float32)], ids=["none", "three"])
ADAGRAD = pytest.mark.parametrize("adagrad", [False, True], ids=["sgd", "adagrad"])
EVERY_OR_OWN = pytest.mark.parametrize("every_context", [True, False], ids=["every context", "own word"])
MOVING = [name for name in FUNCTIONS if name.startswith(("move", "train"))]


def paths_of_tree(every_context: bool, **own: Any) -> HuffmanPaths:
    """Return words with the paths of a tree whose nodes are the rows."""
    tree = build_huffman_tree(np.arange(ROWS + 1, 0, -1), np.arange(ROWS + 1))
    nodes, codes, offsets = (np.asarray(part).astype(np.int32) for part in (tree.nodes, tree.codes, tree.offsets))
    return huffman_paths(SIZE, every_context, **own)._replace(nodes=nodes, codes=codes, offsets=offsets)


def test_rows_are_read_written_and_added_to() -> None:
    check_read_and_written_rows(plain_kernel(), SIZE)
    for number_type in ("float32", "bfloat16"):
        check_added_rows(plain_kernel(), SIZE, number_type)


@ADAGRAD
@pytest.mark.parametrize("number_type", ["float32", "bfloat16"])
def test_rows_of_a_batch_are_fetched_without_their_states(number_type: str, adagrad: bool) -> None:
    check_gathered_rows(SIZE, 1, number_type, adagrad)


@ADAGRAD
@FACTORS
def test_rows_move_by_limited_steps(factors: np.ndarray, adagrad: bool) -> None:
    for number_type in ("float32", "bfloat16"):
        check_moved_rows(SIZE, number_type, factors, adagrad)


@ADAGRAD
@FACTORS
def test_contexts_are_summed_and_moved(factors: np.ndarray, adagrad: bool) -> None:
    for window in (1, 3, 12):
        check_summed_contexts(SIZE, some_contexts(window), adagrad)
        check_moved_contexts(SIZE, some_contexts(window), factors, adagrad)


@ADAGRAD
@FACTORS
def test_even_contexts_are_summed_and_moved(factors: np.ndarray, adagrad: bool) -> None:
    for contexts in (*(some_even_contexts(mean=mean) for mean in (False, True)), contexts_of_continued_runs(3, 4, 6)):
        check_summed_even_contexts(SIZE, contexts, adagrad)
        check_moved_even_contexts(SIZE, contexts, factors, adagrad)


@ADAGRAD
@pytest.mark.parametrize("mask_hits", [False, True], ids=["hits", "no hits"])
@pytest.mark.parametrize("frozen", [False, True], ids=["trained", "frozen"])
def test_targets_move_in_turn_and_negatives_after_their_run(adagrad: bool, mask_hits: bool, frozen: bool) -> None:
    steps = cbow(SIZE).in_loops(normal(11, SIZE, seed=5)).steps
    for max_step in (1e9, float(np.median(steps))):
        check_cbow(cbow(SIZE, mask_hits=mask_hits, frozen=frozen, adagrad=adagrad, max_step=max_step))


@pytest.mark.parametrize("rate", [0.05, 2.0])
def test_words_that_are_many_times_in_a_run_move_in_turn(rate: float) -> None:
    call = cbow(SIZE, window=3, runs=2, tokens=30, rate=rate)
    check_cbow(call._replace(targets=call.targets // 6))


def test_cbow_is_not_measured_unless_it_is_wanted() -> None:
    check_cbow(cbow(SIZE, measured=False))


@ADAGRAD
@EVERY_OR_OWN
@pytest.mark.parametrize("frozen", [False, True], ids=["trained", "frozen"])
def test_nodes_move_in_turn(every_context: bool, adagrad: bool, frozen: bool) -> None:
    check_huffman_paths(paths_of_tree(every_context, adagrad=adagrad, frozen=frozen))


@EVERY_OR_OWN
@pytest.mark.parametrize(
    "change", [{"max_score": 0.4}, {"measured": False}, {"rate": 1.0}, {"scale": 1e4, "rate": 0.0}], ids=str
)
def test_nodes_far_from_zero_stay_and_large_scores_are_finite(every_context: bool, change: dict[str, float]) -> None:
    check_huffman_paths(paths_of_tree(every_context, **change))


@pytest.mark.parametrize(("window", "runs", "tokens"), [(1, 1, 1), (12, 2, 1), (20, 1, 50)])
def test_a_word_may_be_predicted_by_any_number_of_tokens(window: int, runs: int, tokens: int) -> None:
    for every_context in (True, False):
        check_huffman_paths(paths_of_tree(every_context, window=window, runs=runs, tokens=tokens))


@ADAGRAD
@pytest.mark.parametrize("frozen", [False, True], ids=["trained", "frozen"])
def test_tokens_count_as_many_times_as_their_weights_say(adagrad: bool, frozen: bool) -> None:
    own = {"adagrad": adagrad, "frozen": frozen, "token_weights": some_token_weights(3, 6)}
    check_cbow(cbow(SIZE, **own))
    for every_context in (True, False):
        check_huffman_paths(paths_of_tree(every_context, **own))


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 3e38, 1e30])
@pytest.mark.parametrize("name", MOVING)
def test_steps_that_would_not_be_finite_are_refused(name: str, wrong: float) -> None:
    given = valid_call(name)
    vectors = "gradients" if "gradients" in given else "hidden"
    for arguments, adagrad in ((given, False), (with_states(given), True)):
        changed = arguments | {vectors: arguments[vectors].copy()}
        changed[vectors][0, :2] = wrong
        outputs, table, error = run_call(name, changed, adagrad)
        assert error is None
        assert np.isfinite(table).all()
        assert wrong == 1e30 or any(np.isnan(output).any() for output in outputs)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_ids_of_no_row_are_an_error_and_change_nothing(name: str) -> None:
    given = valid_call(name)
    ids = next(name for name in IDS if name in given)
    for wrong in (11, -1):
        changed = given | {ids: np.full_like(given[ids], wrong)}
        _, table, error = run_call(name, changed)
        # Graphs read the rows that they move, which is an error before.
        assert error is not None or (name.startswith("move") and wrong < 0)
        np.testing.assert_array_equal(table, given["table"])


def test_the_longest_first_step_has_the_rate_that_the_two_constants_say() -> None:
    table, gradients = Table(np.zeros((1, 4), np.float32)), np.float32([[[1e-3, 0, 0]]])
    StepTable(table.handle, True).move(np.zeros((1, 1), np.int32), gradients, StepLimits(0.1, 1.0, NO_FACTORS))
    np.testing.assert_allclose(table.values(), [[-1e-4 * ADAGRAD_FACTOR / ADAGRAD_START**0.5, 0, 0, 1e-6]], rtol=1e-5)


def test_graphs_and_operations_have_one_rule_for_states() -> None:
    assert (tuning.ADAGRAD_FACTOR, tuning.ADAGRAD_START) == (ADAGRAD_FACTOR, ADAGRAD_START)
    states = np.float32([0, 1, 99, 1e6])
    np.testing.assert_allclose(rate_factor(states), ADAGRAD_FACTOR / np.sqrt(ADAGRAD_START + states), rtol=1e-6)
