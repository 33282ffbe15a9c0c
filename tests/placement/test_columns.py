"""Tables cut by columns: the same vectors as with whole rows, each batch once on each server, and what is refused."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.child_process import wait_until
from support.chosen_step import training_with
from support.contract import SMALL, assert_finite, topic_gap, two_topics
from support.epoch_vectors import EpochVectors
from support.example_blocks import SETTINGS, SIZE, WORDS, maker_from, random_tables, read, work_on
from support.interrupts import kill
from support.placements import leases_on, shared_cluster

from gensim_tfw2v import TFWord2Vec, encode_corpus, local_cluster
from gensim_tfw2v.blocks.chunk_task import PreparedBlock, prepare
from gensim_tfw2v.cluster.connection import connect, device
from gensim_tfw2v.cluster.local import LocalCluster
from gensim_tfw2v.cluster.remote_functions import local
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.model.training_plan import placement_for
from gensim_tfw2v.placement.calls.tickets import Tickets
from gensim_tfw2v.placement.columns import placement as placement_module
from gensim_tfw2v.placement.columns.column_blocks import moved_rows
from gensim_tfw2v.placement.columns.column_maths import around_tokens, in_widened_run
from gensim_tfw2v.placement.columns.placement import ColumnPlacement
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.local.placement import LocalPlacement
from gensim_tfw2v.steps.kernel import PLAIN, plain_kernel

COLUMNS: dict[str, Any] = {"distribution": "columns", "sg": 1, "seed": 3}
SENTENCES = two_topics(1500)
BATCHES = 4  # of a chunk of `work_on`: 60 tokens, 16 in each


def placement_on(cluster: LocalCluster, concurrency: int = 1, number_type: str = "float32", **others: Any) -> Any:
    """Return a placement for the example model with other settings than usual."""
    settings = replace(SETTINGS, **others)
    lanes = 1 if concurrency == 1 else 2
    return ColumnPlacement(settings, maker_from(0), connect(cluster), concurrency, lanes, 60.0, number_type)


@pytest.fixture
def placement() -> Iterator[ColumnPlacement]:
    made = placement_on(shared_cluster())
    yield made
    made.close()


# -- parts -------------------------------------------------------------------------------------------------------------


def test_places_around_tokens_are_found_and_put_back() -> None:
    values = np.random.default_rng(0).normal(size=(3, 4, 4 + 2 * 2)).astype(np.float32)
    expected = np.zeros((3, 4, 4), np.float32)
    inside = np.zeros_like(values)
    for run, token in itertools.product(range(3), range(4)):
        places = [token, token + 1, token + 3, token + 4]  # its own is token + 2
        expected[run, token] = values[run, token, places]
        inside[run, token, places] = values[run, token, places]
    found = around_tokens(tf.constant(values), tf.constant(2))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(in_widened_run(found, tf.constant(2)), inside)


def test_the_rows_that_batches_move_are_distinct_and_in_order() -> None:
    ids = np.array([[[5, 2], [5, 5]], [[1, 1], [1, 0]]], np.int32)
    found = moved_rows(ids)
    assert found.rows.tolist() == [2, 5, 0, 1]
    assert found.ends.tolist() == [0, 2, 4]
    assert found.order.tolist() == [[1, 0, 2, 3], [3, 0, 1, 2]]
    assert found.sums.tolist() == [[0, 1, 1, 1], [0, 1, 1, 1]]


# -- batches -----------------------------------------------------------------------------------------------------------


def train_by_numpy(tables: ModelTables, prepared: PreparedBlock, max_step: float) -> int:
    """Train a block pair by pair in float64, and return how many steps were clipped."""
    block, clipped = prepared.block, 0
    assert block.candidate_ids is not None
    shared = SETTINGS.shared_negatives
    inputs, outputs = (values.astype(np.float64) for values in (tables.inputs, tables.outputs))
    for batch, rate in enumerate(prepared.learning_rates.astype(np.float64)):
        gradients = {"inputs": np.zeros((WORDS, SIZE)), "outputs": np.zeros((WORDS, SIZE))}
        for run, token in np.ndindex(block.left.shape[1:]):
            word, row = block.input_ids[batch, run, token], block.candidate_ids[batch, run]
            reach = range(-block.left[batch, run, token], block.right[batch, run, token] + 1)
            contexts = [row[token + block.window + distance] for distance in reach if distance]
            pairs = [(context, 1, 1.0) for context in contexts]
            for drawn in row[-shared:]:
                pairs += [(drawn, 0, SETTINGS.negative / shared) for context in contexts if context != drawn]
            for other, label, weight in pairs:
                score = inputs[word] @ outputs[other]
                gradient = weight * (1 / (1 + np.exp(-score)) - label)
                gradients["inputs"][word] += gradient * outputs[other]
                gradients["outputs"][other] += gradient * inputs[word]
        for values, name in ((inputs, "inputs"), (outputs, "outputs")):
            lengths = np.linalg.norm(gradients[name], axis=1)
            steps = np.where(rate * lengths > max_step, max_step / np.maximum(lengths, 1e-9), rate)
            clipped += int(np.sum(rate * lengths > max_step))
            if name == "inputs":
                steps *= tables.lock_factors[np.arange(WORDS) % len(tables.lock_factors)]
            values -= steps[:, None] * gradients[name]
    tables.inputs[:], tables.outputs[:] = inputs, outputs
    return clipped


@pytest.mark.parametrize("locks", [[1.0], [0.5, 1.0, 0.0]], ids=["free", "locked"])
def test_a_block_moves_rows_as_its_formulas_have_it_and_the_report_counts_bytes(locks: list[float]) -> None:
    task, maker = work_on(0, rate=0.5), maker_from(0)
    expected = replace(random_tables(), lock_factors=np.array(locks, np.float32))
    with contextlib.closing(placement_on(shared_cluster(), max_step=0.6)) as placement:
        placement.load(replace(expected, inputs=expected.inputs.copy(), outputs=expected.outputs.copy()))
        trained = placement.train_chunk(task)
        found, report = read(placement), placement.report(60)
    prepared = prepare(maker, task)
    assert prepared is not None
    clipped = train_by_numpy(expected, prepared, 0.6)
    np.testing.assert_allclose(found.inputs, expected.inputs, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.outputs, expected.outputs, rtol=1e-4, atol=1e-5)
    assert trained.batches.clipped_rows.sum() == clipped > 0
    block = prepared.block
    assert block.candidate_ids is not None
    products = block.left.size * (2 * SETTINGS.window + SETTINGS.shared_negatives)
    rows = sum(len(np.unique(ids)) for ids in (*block.input_ids, *block.candidate_ids))
    assert trained.batches.touched_rows.sum() == rows
    ids = report["bytes"] - 2 * 2 * 4 * (products + rows)  # two servers, each way, float32
    assert 3 * 4 * 60 < ids < 3 * 2000  # to the worker, and from it to two servers


@pytest.mark.parametrize("number_type", ["float32", pytest.param("bfloat16", marks=pytest.mark.slow)])
def test_blocks_train_as_in_this_process(number_type: str) -> None:
    alone = LocalPlacement(SETTINGS, maker_from(0), steps=plain_kernel())
    with contextlib.closing(placement_on(shared_cluster(), 1, number_type)) as placement:
        for each in (placement, alone):
            each.load(random_tables())
        for seed in range(3):
            ours, theirs = (each.train_chunk(work_on(0, seed)) for each in (placement, alone))
            assert ours.tokens == theirs.tokens
            tolerance = 1e-5 if number_type == "float32" else 2e-2
            np.testing.assert_allclose(ours.batches.losses, theirs.batches.losses, rtol=tolerance)
            np.testing.assert_array_equal(ours.batches.touched_rows, theirs.batches.touched_rows)
        change = read(alone).inputs - random_tables().inputs
        tolerance = 1e-5 if number_type == "float32" else 0.02 * np.abs(change).max()
        np.testing.assert_allclose(read(placement).inputs, read(alone).inputs, rtol=1e-4, atol=tolerance)


def test_a_chunk_of_which_no_word_is_left_trains_nothing(placement: ColumnPlacement) -> None:
    none = np.zeros(0, np.int32)
    placement.load(random_tables())
    trained = placement.train_chunk(replace(work_on(0), content=Sentences(none, none)))
    assert trained.tokens == len(trained.batches.losses) == 0
    np.testing.assert_array_equal(read(placement).inputs, random_tables().inputs)


def test_a_step_that_would_be_infinite_is_refused_and_shows(placement: ColumnPlacement) -> None:
    tables = random_tables()
    tables.inputs[5] = 1e30
    placement.load(tables)
    trained = placement.train_chunk(work_on(0, rate=1e30))
    assert np.isnan(trained.batches.touched_rows).any()
    assert np.isfinite(read(placement).inputs).all()
    assert np.isfinite(read(placement).outputs).all()


# -- once --------------------------------------------------------------------------------------------------------------


def result_of_one_block(placement: ColumnPlacement) -> ModelTables:
    placement.load(random_tables())
    placement.train_chunk(work_on(0))
    return read(placement)


def test_a_block_that_was_trained_changes_nothing_again(
    placement: ColumnPlacement, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its worker was lost before it could report."""
    monkeypatch.setattr(placement_module, "_job_numbers", itertools.repeat(7))
    whole = result_of_one_block(placement)
    trained = placement.train_chunk(work_on(0))
    np.testing.assert_array_equal(read(placement).inputs, whole.inputs)
    assert trained.tokens == 60
    assert not trained.measured.any()


@pytest.mark.parametrize(("first", "second"), [(BATCHES, 0), (2, 1), (0, BATCHES)])
def test_a_server_that_has_a_batch_keeps_its_columns(
    first: int, second: int, placement: ColumnPlacement, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker was lost when the servers had so many of its batches."""
    monkeypatch.setattr(placement_module, "_job_numbers", itertools.repeat(7))
    placement.load(random_tables())
    for server, batches in enumerate((first, second)):
        with tf.device(device("ps", server)):
            handle = placement._program.counters[0][0][server]
            tf.raw_ops.AssignVariableOp(resource=handle, value=local(np.array([7, batches], np.int32)))
    trained = placement.train_chunk(work_on(0))
    assert np.count_nonzero(trained.batches.touched_rows) == BATCHES - min(first, second)
    half = SIZE // 2
    for values, start in zip(read(placement).present().values(), random_tables().present().values(), strict=True):
        assert np.array_equal(values[:, :half], start[:, :half]) == (first == BATCHES)
        assert np.array_equal(values[:, half:], start[:, half:]) == (second == BATCHES)
    for server in range(2):
        with tf.device(device("ps", server)):
            value = tf.raw_ops.ReadVariableOp(resource=placement._program.counters[0][0][server], dtype=tf.int32)
        assert value.numpy().tolist() == [7, BATCHES]


def test_what_comes_with_a_ticket_that_has_ended_changes_nothing(
    placement: ColumnPlacement, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = result_of_one_block(placement)
    placement.load(random_tables())
    sealed, late = Tickets.sealed, iter([1])
    seen = []

    def seal(tickets: Tickets, assignment: Any, worker: int) -> Any:
        if next(late, None) is None:
            seen.append(read(placement).inputs)
            return sealed(tickets, assignment, worker)
        return np.concatenate([assignment, np.array([worker, -1], "<i4").view(np.uint8)])

    monkeypatch.setattr(Tickets, "sealed", seal)
    placement.train_chunk(work_on(0))
    assert len(seen) == 1
    np.testing.assert_array_equal(seen[0], random_tables().inputs)
    np.testing.assert_array_equal(read(placement).inputs, whole.inputs)


# -- models ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def plain_cluster() -> Iterator[LocalCluster]:
    """Return a cluster whose tasks, as this process, move whole rows batch by batch, as columns are moved."""
    with training_with(PLAIN), local_cluster(ps=2, workers=1) as started:
        yield started


def many_words() -> list[list[str]]:
    """Return sentences of 12,000 words, which have all windows and no masks; frequent ones are drawn as in text."""
    numbers = np.concatenate([np.arange(12_000), np.random.default_rng(0).zipf(1.3, 48_000) % 12_000])
    np.random.default_rng(1).shuffle(numbers)
    return [[f"w{number}" for number in sentence] for sentence in numbers.reshape(-1, 20)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "sentences",
    [pytest.param(SENTENCES, id="few words"), pytest.param(many_words(), id="many")],
)
def test_twenty_blocks_give_the_vectors_of_whole_rows(sentences: list[list[str]], plain_cluster: LocalCluster) -> None:
    block_words = sum(map(len, sentences)) // 20
    settings = COLUMNS | {"min_count": 1, "epochs": 1, "workers": 1, "batch_words": block_words, "vector_size": 11}
    settings |= {"compute_dtype": "float32", "alpha": 0.1}
    columns, rows = (
        TFWord2Vec(sentences, **settings | {"distribution": distribution}, cluster=plain_cluster)
        for distribution in ("columns", "downpour")
    )
    assert columns.training_report["blocks"] == rows.training_report["blocks"] >= 20
    for ours, theirs in ((columns.wv.vectors, rows.wv.vectors), (columns.syn1neg, rows.syn1neg)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4 * np.abs(theirs).max())
    assert columns.epoch_losses == pytest.approx(rows.epoch_losses, rel=1e-4)


@pytest.mark.slow
def test_two_workers_learn_and_callbacks_see_each_epochs_vectors() -> None:
    seen = EpochVectors()
    settings = SMALL | COLUMNS | {"workers": 2, "batch_words": 1500, "batch_tokens": 128}
    model = TFWord2Vec(SENTENCES, **settings, cluster=shared_cluster(), callbacks=[seen])
    assert_finite(model)
    assert topic_gap(model.wv) > 0.5
    assert model.epoch_losses[-1] < model.epoch_losses[0]
    assert len(seen.vectors) == model.epochs
    assert not any(np.array_equal(*pair) for pair in zip(seen.vectors, seen.vectors[1:], strict=False))
    np.testing.assert_array_equal(seen.vectors[-1], model.wv.vectors)
    report = model.training_report
    assert report is not None
    assert report["blocks"] == 36
    assert report["bytes_per_word"] > 100
    assert report["worker_seconds"]["pull"] > 0
    assert {task for task, found in report["tasks"].items() if found["blocks"]} >= {"ps 0", "ps 1"}
    assert not leases_on(shared_cluster())


@pytest.mark.slow
def test_servers_get_the_words_of_an_encoded_corpus_from_the_worker(
    tmp_path: Path, plain_cluster: LocalCluster
) -> None:
    text = tmp_path / "corpus.txt"
    text.write_text("".join(" ".join(sentence) + "\n" for sentence in SENTENCES))
    encode_corpus(text, tmp_path / "encoded")
    settings = SMALL | COLUMNS | {"workers": 1, "batch_words": 6000, "epochs": 1, "cluster": plain_cluster}
    settings |= {"batch_tokens": 512, "compute_dtype": "float32"}
    columns, rows = (
        TFWord2Vec(corpus_file=str(tmp_path / "encoded"), **settings | {"distribution": distribution})
        for distribution in ("columns", "downpour")
    )
    np.testing.assert_allclose(columns.wv.vectors, rows.wv.vectors, rtol=1e-4, atol=1e-5)
    assert columns.training_report["bytes_per_word"] > 2 * 4


@pytest.mark.parametrize(
    ("servers", "workers", "exchanged"),
    [(2, 2, 4), (2, 1, None), pytest.param(1, 2, 2, marks=pytest.mark.slow)],
    ids=["a server for each worker", "one worker", "more workers than servers"],
)
def test_workers_wait_for_servers_with_one_batch_each_if_they_are_more(
    servers: int, workers: int, exchanged: int | None
) -> None:
    cluster = shared_cluster(servers, 2)
    model = TFWord2Vec(**SMALL, **COLUMNS, workers=workers)
    model.build_vocab(SENTENCES[:5])
    assert placement_for(model, cluster, 10_000).exchanged_batches == exchanged


def test_vectors_that_are_shorter_than_the_servers_are_many_are_refused() -> None:
    model = TFWord2Vec(**COLUMNS, vector_size=1, min_count=1, cluster=shared_cluster())
    model.build_vocab(SENTENCES)
    with pytest.raises(ValueError, match=r"vector_size=1 .* 2 parameter servers"):
        model.train(SENTENCES, total_examples=len(SENTENCES), epochs=1)


# -- other clusters, and losses ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mortal_cluster() -> Iterator[LocalCluster]:
    """Return a cluster of three servers whose tasks tests may kill, and have to mend."""
    with local_cluster(ps=3, workers=2) as cluster:
        yield cluster


@pytest.mark.slow
def test_three_servers_give_the_vectors_of_two(mortal_cluster: LocalCluster) -> None:
    settings = SMALL | COLUMNS | {"workers": 1, "batch_words": 3000, "epochs": 1}
    two, three = (TFWord2Vec(SENTENCES, **settings, cluster=each) for each in (shared_cluster(), mortal_cluster))
    np.testing.assert_allclose(three.wv.vectors, two.wv.vectors, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(three.syn1neg, two.syn1neg, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_a_killed_worker_costs_no_words_and_its_batches_count_once(mortal_cluster: LocalCluster) -> None:
    """With a tiny rate, changes of outputs hardly depend on each other: batches that count twice would show."""
    settings = SMALL | COLUMNS | {"workers": 2, "batch_words": 9000, "epochs": 2, "alpha": 1e-5, "min_alpha": 1e-5}
    settings |= {"cluster_dtype": "float32", "cluster": mortal_cluster}
    corpus: dict[str, Any] = {"corpus_iterable": SENTENCES, "total_examples": len(SENTENCES)}
    results = []
    train_chunk = ColumnPlacement.train_chunk
    for is_killed in (False, True):
        model = TFWord2Vec(**settings, max_recoveries=0)
        model.build_vocab(SENTENCES)
        chunks = itertools.count()

        def train_and_kill(placement: Any, task: Any, chunks: Any = chunks, is_killed: bool = is_killed) -> Any:
            if next(chunks) == 2 and is_killed:  # while another thread waits for a block
                kill(mortal_cluster.processes["worker", 1])
            return train_chunk(placement, task)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ColumnPlacement, "train_chunk", train_and_kill)
            _, raw_words = model.train(**corpus, epochs=2)
        assert raw_words == 2 * 12 * len(SENTENCES)
        results.append(model.syn1neg.copy())  # zeros at first
    np.testing.assert_allclose(results[1], results[0], atol=5e-3 * np.abs(results[0]).max())
    mortal_cluster.start("worker", 1)
    mortal_cluster.wait()

    def is_back() -> bool:
        model.train(**corpus, epochs=1)
        return bool(model.training_report["tasks"]["worker 1"]["blocks"])

    wait_until(is_back)
