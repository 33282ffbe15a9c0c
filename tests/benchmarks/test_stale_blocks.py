"""Blocks in flight, emulated in one process: what the emulation promises, and the command that scores it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from measuring.jobs import Job
from measuring.stale_placement import StalePlacement
from stale_blocks import Pipeline, train
from support.benchmark_commands import corpus_in, run_command
from support.example_blocks import SETTINGS, maker_from, random_tables, read, work_on
from support.placements import on_cluster

from gensim_tfw2v.cluster.connection import device
from gensim_tfw2v.cluster.remote_functions import local
from gensim_tfw2v.placement.calls.ramp_up import RampUp
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.downpour.placement import DownpourPlacement
from gensim_tfw2v.placement.tasks.assignment import Request
from gensim_tfw2v.placement.tasks.block_report import BlockReport
from gensim_tfw2v.tuning import SLOPES

BLOCK_WORDS = 50


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Return a job of sixty blocks."""
    return Job("tfw2v", str(corpus_in(tmp_path)), vector_size=10, epochs=2, sample=0.0, optimizer="sgd")


def trained_here(job: Job) -> Any:
    """Return a model that this process has trained on the same blocks, one after the other."""
    from gensim_tfw2v import TFWord2Vec

    model = TFWord2Vec(**job.gensim_arguments(), batch_words=BLOCK_WORDS, progress=False, optimizer=job.optimizer)
    model.build_vocab(corpus_file=job.corpus)
    model.train(corpus_file=job.corpus, total_words=model.corpus_total_words, epochs=job.epochs)
    return model


def assert_same_vectors(model: Any, other: Any) -> None:
    assert np.abs(model.wv.vectors).max() > 0.1, "nothing was learnt that could differ"
    np.testing.assert_allclose(model.wv.vectors, other.wv.vectors, atol=1e-4)
    for table in ("syn1neg", "syn1"):
        if hasattr(other, table):
            np.testing.assert_allclose(getattr(model, table), getattr(other, table), atol=1e-4)


@pytest.mark.parametrize("mode", [pytest.param("sg-neg", marks=pytest.mark.slow), "cbow-hs"])
def test_one_block_in_flight_leaves_the_vectors_of_training_here(job: Job, mode: str) -> None:
    job = dataclasses.replace(job, mode=mode)
    assert_same_vectors(train(job, Pipeline(1, BLOCK_WORDS)), trained_here(job))


@pytest.mark.slow
def test_blocks_in_flight_lack_each_others_changes(job: Job) -> None:
    uncorrected = Pipeline(4, BLOCK_WORDS, slopes=[0.0] * 3)
    difference = train(job, uncorrected).wv.vectors - trained_here(job).wv.vectors
    assert np.abs(difference).max() > 1e-2


class OneOfMany(RampUp):
    """Yields for every block that four are in flight, though it is alone."""

    @contextlib.contextmanager
    def block(self) -> Iterator[int]:
        with super().block():
            yield 4


def test_a_block_of_many_is_trained_as_on_a_cluster() -> None:
    remote = on_cluster(SETTINGS, maker_from(0), 2)
    remote._ramp_up = OneOfMany(1)
    found = []
    for placement in (remote, StalePlacement(SETTINGS, maker_from(0), OneOfMany(1), SLOPES)):
        with contextlib.closing(placement):
            placement.load(random_tables())
            for seed in range(3):
                placement.train_chunk(work_on(0, seed, rate=0.5))
            found.append(read(placement))
    on_servers, here = found
    moved = np.abs(here.inputs - random_tables().inputs).max()
    assert moved > 0.5, "hardly anything was trained"
    np.testing.assert_allclose(on_servers.inputs, here.inputs, atol=1e-4)
    np.testing.assert_allclose(on_servers.outputs, here.outputs, atol=1e-4)


def test_a_block_is_corrected_for_what_others_changed_as_on_a_cluster() -> None:
    others = random_tables(1)
    with contextlib.closing(on_cluster(SETTINGS, maker_from(0), 4)) as remote:  # more than workers: blocks overlap
        remote.load(random_tables())
        train_while_rows_change(remote, others)
        on_servers = read(remote)
    with contextlib.closing(StalePlacement(SETTINGS, maker_from(0), OneOfMany(1), SLOPES)) as emulated:
        emulated.load(random_tables())
        emulated.train_chunk(work_on(0, rate=0.5))
        for number, values in enumerate((others.inputs, others.outputs)):
            emulated._tables[number].assign(values)
        here = read(emulated)
    assert np.abs(here.inputs - others.inputs).max() > 0.5, "hardly anything was trained"
    np.testing.assert_allclose(on_servers.inputs, here.inputs, atol=1e-4)
    np.testing.assert_allclose(on_servers.outputs, here.outputs, atol=1e-4)


def train_while_rows_change(placement: DownpourPlacement, others: ModelTables) -> None:
    """Train a block of four in flight, and write other rows to the servers between its pull and its push."""
    training, program, graphs = placement.training, placement._program, placement._program.graphs
    thread, tickets = training.dispatcher._threads[0], training.dispatcher._work.trained.tickets
    request = training.request(work_on(0, rate=0.5), 4)
    with thread._calling() as calls:
        thread._register_model(calls, request.model)
    sealed = Request(local(request.model), local(tickets.sealed(request.assignment, 0)))
    with tf.device(device("worker", 0)):
        staged = graphs.stage(program.handles, sealed)
    tables = training.tables
    for name, values in (("inputs", others.inputs), ("outputs", others.outputs)):
        for shard, handle in enumerate(tables.handles(name)):
            with tf.device(tables.device_of(shard)):
                tf.raw_ops.AssignVariableOp(resource=handle, value=tf.identity(values[shard :: tables.shards]))
    with tf.device(device("worker", 0)):
        report = BlockReport.from_array(graphs.finish(program.handles, staged).numpy(), servers=2)
    assert report.is_accepted and report.servers is not None
    assert report.servers.exchanged.read_again == sum(report.servers.exchanged[:3])  # all rows are hot


@pytest.mark.slow
def test_the_start_decides_how_fast_training_could_be(job: Job) -> None:
    slow, fast = (train(job, Pipeline(4, BLOCK_WORDS, blocks_for_one_more=blocks)) for blocks in (15, 1))
    assert 1 < slow.placement.ideal_speed < fast.placement.ideal_speed < 4


@pytest.mark.slow
def test_the_command_saves_a_row_for_every_number_of_blocks_in_flight(tmp_path: Path) -> None:
    small = ("--in-flight", 1, 4, "--words", 1000, "--batch-words", 50, "--epochs", 2, "--vector-size", 10)
    done = run_command("stale_blocks.py", corpus_in(tmp_path), *small, "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    alone, four = json.loads((tmp_path / "stale_blocks.json").read_text())["runs"]
    assert (alone["in_flight"], alone["slopes"], alone["ideal_speed"]) == (1, None, 1.0)
    assert (four["in_flight"], four["block_words"], len(four["slopes"])) == (4, 50, 3)
    for run in (alone, four):
        assert run["finite"]
        assert math.isfinite(run["scores"]["wordsim353"])
    assert "| 4         | 50 " in (tmp_path / "stale_blocks.md").read_text()
