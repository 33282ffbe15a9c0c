"""The operations that train a block move every row as plain loops over its pairs do, run by run."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from support.every_operation import SOME_CASES
from support.example_trees import STEEP
from support.one_score import METHODS, SCORES, check_one_score
from support.operation_inputs import SIZES
from support.reference import LARGEST_SCORE, MOST_TOGETHER
from support.step_objectives import objectives
from support.training_examples import NULL_WORD, TOLERANCE, WITH_BAGS, Case, check_tables, check_training, make_example

from gensim_tfw2v.blocks.batches import Windows

ADAGRAD = pytest.mark.parametrize("adagrad", [False, True], ids=["sgd", "adagrad"])
EACH_CASE = pytest.mark.parametrize("case", SOME_CASES.values(), ids=SOME_CASES)
EACH_MODEL = pytest.mark.parametrize("skip_gram", [True, False], ids=["skip-gram", "CBOW"])
EVERY_OBJECTIVE = [each for each in objectives() if each.compute_dtype == "float32"]
SHAPES = list(product((1, 3, 12), (1, 7, 16, 33, 50), (1, 6, 7, 22)))  # windows, tokens of a run, negatives of a run
USUAL_SHAPES = [(1, 1, 22), (3, 16, 1), (12, 7, 7), (12, 33, 6), (3, 50, 22)]


@ADAGRAD
@pytest.mark.parametrize("objective", EVERY_OBJECTIVE, ids=str)
def test_every_row_moves_as_plain_loops_do(objective: tuple[object, ...], adagrad: bool) -> None:
    skip_gram, negative, tree, mean, _, windows, even, _ = objective
    check_training(Case(skip_gram, negative, tree, windows, mean, even, adagrad))  # type: ignore[arg-type]


@EACH_CASE
@pytest.mark.parametrize("size", SIZES)
def test_vectors_may_have_any_size(size: int, case: Case) -> None:
    check_training(case._replace(size=size, tokens=40))


@pytest.mark.slow
@EACH_CASE
@pytest.mark.parametrize("size", SIZES)
def test_vectors_with_states_may_have_any_size(size: int, case: Case) -> None:
    check_training(case._replace(size=size, adagrad=True, weighted=True))


@EACH_CASE
@pytest.mark.parametrize(
    ("window", "run_tokens", "shared_negatives"),
    [shape if shape in USUAL_SHAPES else pytest.param(*shape, marks=pytest.mark.slow) for shape in SHAPES],
)
def test_windows_runs_and_negatives_may_be_of_any_number(
    window: int, run_tokens: int, shared_negatives: int, case: Case
) -> None:
    tokens = max(40, 2 * run_tokens + 11)
    shape = {"window": window, "run_tokens": run_tokens, "shared_negatives": shared_negatives}
    check_training(case._replace(**shape, tokens=tokens, batch_tokens=max(20, run_tokens), size=5, max_step=0.5))


@EACH_CASE
@ADAGRAD
def test_tokens_count_as_many_times_as_their_weights_say(case: Case, adagrad: bool) -> None:
    check_training(case._replace(adagrad=adagrad, weighted=True))


@EACH_CASE
def test_weights_of_one_change_no_bit(case: Case) -> None:
    example = make_example(case)
    ones = {"weights": np.ones(example.arguments["left"].shape, np.float32)}
    example.attributes["weighted"] = True
    weighted = example.run(**ones)
    example.attributes["weighted"] = False
    found = example.run()
    assert weighted.output is not None and found.output is not None
    assert weighted.output.tobytes() == found.output.tobytes()
    assert all(table.tobytes() == weighted.tables[name].tobytes() for name, table in found.tables.items())


@EACH_CASE
@ADAGRAD
@pytest.mark.parametrize("freeze", ["inputs", "outputs"])
def test_frozen_rows_keep_every_bit_and_all_others_move(case: Case, adagrad: bool, freeze: str) -> None:
    case = case._replace(adagrad=adagrad, freeze=freeze)
    check_training(case)
    example = make_example(case)
    frozen = [name for name in ("inputs", "outputs", "nodes") if (name == "inputs") == (freeze == "inputs")]
    before = {name: example.arguments[name].copy() for name in frozen if name in example.arguments}
    for table in before.values():
        table[:, 0] = -0.0  # adding zero would make it 0.0
    after = example.run(**before).tables
    assert all(after[name].tobytes() == table.tobytes() for name, table in before.items())


@EACH_CASE
@ADAGRAD
@pytest.mark.parametrize("locks", [(0.0,), (0.0, 1.0, 0.25), (0.5,) * 20], ids=len)
def test_steps_of_inputs_are_scaled_by_the_factors_of_their_rows(
    case: Case, adagrad: bool, locks: tuple[float, ...]
) -> None:
    check_training(case._replace(adagrad=adagrad, locks=locks))


@EACH_CASE
@ADAGRAD
def test_steps_are_at_most_as_long_as_the_longest_step(case: Case, adagrad: bool) -> None:
    _, touched, clipped = check_training(case._replace(adagrad=adagrad, max_step=0.1)).metrics
    assert (clipped > 0).all() and clipped.sum() < touched.sum()


@EACH_CASE
def test_a_span_trains_its_batches_and_reads_no_entry_of_others(case: Case) -> None:
    example = make_example(case._replace(tokens=100, weighted=True))
    assert len(example.batches) == 4
    for name, value in example.arguments.items():
        if value.ndim and len(value) == 4:
            wrong = {"f": np.nan, "i": 2**31 - 1, "b": True}[value.dtype.kind]
            example.arguments[name] = np.concatenate([np.full_like(value[:1], wrong), value[1:3], value[3:]])
            example.arguments[name][3:] = wrong
    example.arguments["span"] = np.array([1, 3], np.int32)
    found, expected = example.run(), example.expected()
    assert found.output is not None and found.output.shape == (3, 2)
    check_tables(found.tables, expected.model)
    np.testing.assert_allclose(found.output, expected.metrics, rtol=1e-4)


@EACH_CASE
def test_parts_of_a_span_come_to_the_same_as_the_whole_span(case: Case) -> None:
    example = make_example(case._replace(adagrad=True))
    whole = example.run()
    assert whole.output is not None
    tables, parts = {name: example.arguments[name] for name in whole.tables}, []
    for batch in range(len(example.batches)):
        found = example.run(**tables, span=np.array([batch, batch + 1], np.int32))
        tables = found.tables
        parts.append(found.output)
    assert np.concatenate(parts, 1).tobytes() == whole.output.tobytes()
    assert all(table.tobytes() == whole.tables[name].tobytes() for name, table in tables.items())


@EACH_CASE
def test_batches_that_are_not_measured_have_no_loss_and_train_as_those_that_are(case: Case) -> None:
    example = make_example(case)
    measured = np.arange(len(example.batches)) % 2 == 0
    every, some = example.run(), example.run(measured=measured)
    assert every.output is not None and some.output is not None
    assert (every.output[0] > 0).all()
    np.testing.assert_array_equal(some.output[0], np.where(measured, every.output[0], 0))
    np.testing.assert_array_equal(some.output[1:], every.output[1:])
    assert all(table.tobytes() == some.tables[name].tobytes() for name, table in every.tables.items())


@EACH_CASE
@ADAGRAD
def test_tokens_without_contexts_move_nothing(case: Case, adagrad: bool) -> None:
    example = make_example(case._replace(adagrad=adagrad))
    nothing = np.zeros_like(example.arguments["left"])
    found = example.run(left=nothing, right=nothing)
    assert found.output is not None and not found.output.any()
    assert all(table.tobytes() == example.arguments[name].tobytes() for name, table in found.tables.items())


@EACH_CASE
def test_a_rate_of_zero_moves_no_row(case: Case) -> None:
    example = make_example(case)
    found = example.run(learning_rates=np.zeros(len(example.batches), np.float32))
    assert found.output is not None and (found.output[:2] > 0).all()
    for name, table in found.tables.items():
        np.testing.assert_array_equal(table, example.arguments[name])


@EACH_MODEL
@pytest.mark.parametrize("mask_hits", [True, False])
def test_a_negative_that_is_a_target_is_left_out_if_asked(skip_gram: bool, mask_hits: bool) -> None:
    few_words = Case(skip_gram, frequencies=(3, 2, 1, 1), shared_negatives=16)
    masked, other = (make_example(few_words._replace(mask_hits=mask)) for mask in (mask_hits, not mask_hits))
    assert masked.expected().model.largest_difference(other.expected().model) > 100 * TOLERANCE
    check_training(few_words._replace(mask_hits=mask_hits))


@EACH_MODEL
@ADAGRAD
def test_paths_may_be_longer_than_all_other_lists_of_a_run(skip_gram: bool, adagrad: bool) -> None:
    case = Case(skip_gram, 0, True, adagrad=adagrad, frequencies=tuple(STEEP), window=1, run_tokens=1, tokens=30)
    example = make_example(case)
    assert example.paths is not None and max(len(path) for path in example.paths) > 50
    check_training(case)


@ADAGRAD
def test_a_word_may_be_predicted_by_more_tokens_than_move_its_nodes_together(adagrad: bool) -> None:
    own = {"window": 20, "run_tokens": 50, "tokens": 60, "batch_tokens": 60, "lengths": (50,)}
    case = Case(True, 0, True, Windows.FIXED, adagrad=adagrad, **own)  # type: ignore[arg-type]
    for size in (1, 17, 100):
        (batch,) = make_example(case._replace(size=size)).batches
        predicting = [sum(place in contexts for (contexts,) in batch.windows[:50]) for place in range(50)]
        assert max(predicting) > 2 * MOST_TOGETHER
        check_training(case._replace(size=size))


@EACH_MODEL
def test_a_word_without_a_path_trains_nothing(skip_gram: bool) -> None:
    """As in a vocabulary of one word, whose tree has no node."""
    example = make_example(Case(skip_gram, 0, True, frequencies=(3,)))
    assert example.arguments["nodes"].shape == (0, 17)
    found = example.run()
    assert found.output is not None and not found.output.any()
    np.testing.assert_array_equal(found.tables["inputs"], example.arguments["inputs"])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("score", SCORES)
def test_one_score_has_the_loss_and_the_gradient_of_a_sigmoid_unless_it_is_too_far_from_zero(
    score: float, method: str
) -> None:
    for code in (0, 1) if method == "node" else (0,):
        check_one_score(score, code, method)


@EACH_CASE
@pytest.mark.parametrize("scale", [100.0, 1e4, 1e15])
def test_scores_too_large_for_an_exponential_have_finite_losses_and_steps(case: Case, scale: float) -> None:
    example = make_example(case)
    example.arguments["inputs"] *= np.float32(scale)
    assert np.abs(example.arguments["inputs"].astype(np.float64) @ example.arguments["outputs"].T).max() > LARGEST_SCORE
    trained = example.run()
    assert trained.output is not None and np.isfinite(trained.output).all()
    assert all(np.isfinite(table).all() for table in trained.tables.values())
    example.arguments["learning_rates"][:] = 0
    found = example.run()
    assert found.output is not None
    np.testing.assert_allclose(found.output[0], example.expected().metrics[0], rtol=1e-5)


def test_running_sums_along_the_longest_run_stay_exact() -> None:
    """All rows have a large part in common, as vectors may have after training, so that running sums grow."""
    case = Case(
        False, 0, True, Windows.FIXED, even=True, size=16, window=10, run_tokens=512, tokens=512, batch_tokens=512
    )
    example = make_example(case)
    example.arguments["inputs"][:] = 1 + 0.1 * example.arguments["inputs"]
    example.arguments["nodes"][:] *= 0.1
    found = example.run()
    check_tables(found.tables, example.expected().model)


def test_a_place_that_is_no_context_does_not_move_even_between_others() -> None:
    case = Case(False, even=True, windows=Windows.FIXED, window=2, run_tokens=7, tokens=7, batch_tokens=7, size=9)
    example = make_example(case)
    left, right = np.zeros((2, 1, 1, 7), np.int32)
    left[..., 0], right[..., -1] = 2, 2  # the first token has the places before it, and the last one those behind it
    ids = np.arange(11, dtype=np.int32).reshape(1, 1, 11)
    before = example.arguments["inputs"]
    after = example.run(left=left, right=right, input_ids=ids).tables["inputs"]
    moved = [0, 1, 9, 10]
    assert (after[moved] != before[moved]).all()
    others = np.setdiff1d(np.arange(len(before)), moved)
    assert after[others].tobytes() == before[others].tobytes()


CONCATENATED = Case(skip_gram=False, even=True, windows=Windows.FIXED, documents=True, concatenated=True)
WITH_BAGS_OR_PARTS = WITH_BAGS | {
    "concatenated": CONCATENATED,
    "concatenated tree": CONCATENATED._replace(negative=0, tree=True),
    "concatenated both": CONCATENATED._replace(tree=True),
}
EACH_WITH_BAGS = pytest.mark.parametrize("case", WITH_BAGS_OR_PARTS.values(), ids=WITH_BAGS_OR_PARTS)


@EACH_WITH_BAGS
@ADAGRAD
@pytest.mark.parametrize("freeze", [None, "inputs", "outputs"])
def test_bags_and_documents_move_as_plain_loops_do(case: Case, adagrad: bool, freeze: str | None) -> None:
    check_training(case._replace(adagrad=adagrad, freeze=freeze, weighted=True))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("further_rows", [4, 150])
def test_bags_may_have_rows_of_any_size_and_number(size: int, further_rows: int) -> None:
    for name in ("skip-gram", "CBOW", "documents and bags", "documents alone"):
        # Rows that come many times in a bag move as many times: by long steps, rounding errors would grow.
        check_training(WITH_BAGS[name]._replace(size=size, further_rows=further_rows, tokens=40, max_step=0.002))


@pytest.mark.parametrize("adagrad", [False, True])
def test_a_run_may_have_more_documents_than_are_scored_one_by_one(adagrad: bool) -> None:
    case = WITH_BAGS["documents alone"]._replace(tokens=100, run_tokens=100, batch_tokens=100, adagrad=adagrad)
    documents = make_example(case).arguments["token_documents"].ravel()
    assert np.count_nonzero(np.diff(documents)) > 16  # places where another document begins
    check_training(case)


@EACH_WITH_BAGS
def test_rows_of_bags_have_a_longest_step_and_factors(case: Case) -> None:
    check_training(case._replace(max_step=0.1, locks=(0.0, 1.0, 0.25)))


@pytest.mark.parametrize("case", [Case(bags=True), Case(skip_gram=False, even=True, documents=True)], ids=str)
@pytest.mark.parametrize(
    ("input_", "place", "value", "message"),
    [
        ("bag_members", 0, 1000, "bag_members holds 1000 at member 0; inputs has 19 rows"),
        ("bag_offsets", 1, -1, "bag_offsets must ascend"),
        ("bag_offsets", 1, 2**31 - 1, "bag_offsets must ascend"),
    ],
)
def test_wrong_bags_are_refused(case: Case, input_: str, place: int, value: int, message: str) -> None:
    example = make_example(case)
    name = "token_documents" if case.documents else "input_ids"
    used = int(example.arguments[name].reshape(-1)[0])
    begin = int(example.arguments["bag_offsets"][used]) if input_ == "bag_members" else used
    wrong = example.arguments[input_].copy()
    wrong[begin + place] = value
    found = example.run(**{input_: wrong})
    assert found.error is not None and message.replace("member 0", f"member {begin}") in str(found.error)
    for numbers in (-2, len(example.arguments["bag_offsets"]) - 1):
        found = example.run(**{name: np.full_like(example.arguments[name], numbers)})
        assert found.error is not None and "bag_offsets has" in str(found.error)


@pytest.mark.parametrize("size", SIZES)
def test_concatenated_vectors_may_have_any_size(size: int) -> None:
    for tree in (False, True):
        check_training(CONCATENATED._replace(size=size, tree=tree, negative=5 * (not tree), tokens=40))


@pytest.mark.parametrize(("window", "run_tokens", "shared_negatives"), USUAL_SHAPES)
def test_concatenations_may_have_any_number_of_parts(window: int, run_tokens: int, shared_negatives: int) -> None:
    shape = {"window": window, "run_tokens": run_tokens, "shared_negatives": shared_negatives}
    check_training(CONCATENATED._replace(**shape, batch_tokens=max(20, run_tokens), size=5, max_step=0.5))


def test_the_null_word_is_concatenated_in_place_of_words_beyond_a_sentence() -> None:
    example = make_example(CONCATENATED._replace(lengths=(1,)))
    ids = example.arguments["input_ids"]
    example.arguments["input_ids"] = np.where(ids == NULL_WORD, 0, ids)
    after = example.run().tables["inputs"]
    moved = np.flatnonzero((after != example.arguments["inputs"]).any(axis=1))
    assert moved[0] == NULL_WORD and (moved[1:] >= len(example.case.frequencies)).all()  # and rows of documents


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"bag_members": lambda members: np.append(members[:-1], 99).astype(np.int32)}, "null word's row; inputs has"),
        ({"outputs": lambda table: table[:, :-1].copy()}, "hidden vectors have 135 numbers; with window 3"),
        ({"outputs": lambda table: table[:, : 17 * 6].copy()}, "hidden vectors have 102 numbers; with window 3"),
        ({"outputs": lambda table: table[:, : 17 * 7].copy()}, "token_documents holds a bag of 2 rows at batch 0, run"),
    ],
)
def test_inputs_that_do_not_fit_a_concatenation_are_refused(changed: dict[str, Any], message: str) -> None:
    example = make_example(CONCATENATED)
    found = example.run(**{name: change(example.arguments[name]) for name, change in changed.items()})
    assert found.error is not None and message in str(found.error)
    assert all(
        table.tobytes() == example.arguments[name].tobytes()
        for name, table in found.tables.items()
        if name not in changed
    )


@pytest.mark.parametrize("attributes", [{"documents": False}, {"bags": True}, {"even_contexts": False}], ids=str)
def test_concatenations_need_documents_and_no_bags(attributes: dict[str, bool]) -> None:
    example = make_example(CONCATENATED)
    example.attributes.update(attributes)
    error = example.run().error
    assert error is not None and ("concatenated inputs need" in str(error) or "even_contexts" in str(error))
