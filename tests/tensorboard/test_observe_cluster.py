"""The log of a training on a cluster, read back with TensorBoard's own reader."""

from __future__ import annotations

import logging
import socket
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models.callbacks import CallbackAny2Vec
from support.clustered import EPOCHS, TASKS, Clustered
from support.contract import two_topics
from support.event_files import SMALL, events_of, hyperparameters_of, text_of, values_of
from support.placements import shared_cluster
from support.projector import Plugin
from tensorboard.util import tensor_util

from gensim_tfw2v import TensorBoardLog, TFWord2Vec, local_cluster
from gensim_tfw2v.evaluation import score_vectors
from gensim_tfw2v.tensorboard.traces import Trace


@pytest.mark.parametrize("task", TASKS)
def test_the_curves_of_every_task_end_where_the_report_does(clustered: Clustered, task: str) -> None:
    assert clustered.model.training_report is not None
    reported = clustered.model.training_report["tasks"][task]
    folder = clustered.folder / "tasks" / task
    assert set(events_of(folder).Tags()["scalars"]) == {f"tasks/{name}" for name in reported}
    for name, value in reported.items():
        logged = values_of(folder, f"tasks/{name}")
        assert len(logged) >= EPOCHS
        assert logged[-1] == pytest.approx(value, rel=1e-6), name
        assert logged == sorted(logged) or name in ("memory_bytes", "staleness"), name


def test_workers_share_the_blocks_and_each_reports_its_staleness(clustered: Clustered) -> None:
    report = clustered.model.training_report
    assert report is not None
    workers = [report["tasks"][f"worker {worker}"] for worker in range(2)]
    assert sum(worker["blocks"] for worker in workers) == report["blocks"]
    staleness = sum(worker["staleness"] * worker["blocks"] for worker in workers) / report["blocks"]
    assert staleness == pytest.approx(report["staleness"]["mean"])
    assert staleness > 0


def test_losses_are_the_models(clustered: Clustered) -> None:
    np.testing.assert_allclose(values_of(clustered.folder, "loss/epoch"), clustered.model.epoch_losses, rtol=1e-6)


def test_norms_and_histograms_are_those_of_the_vectors(clustered: Clustered) -> None:
    for name, table in (("input", clustered.model.wv.vectors), ("output", clustered.model.syn1neg)):
        norms = np.linalg.norm(table, axis=1)
        logged = values_of(clustered.folder, f"norms/{name}_vectors_of_hot_words")
        assert logged[-1] == pytest.approx(norms[:100].mean(), rel=1e-5)
        histograms = events_of(clustered.folder).Tensors(f"norms/{name}_vectors")
        assert len(histograms) == 1 + EPOCHS
        buckets = tensor_util.make_ndarray(histograms[-1].tensor_proto)  # [bucket, (left, right, count)]
        assert buckets[:, 2].sum() == len(norms)
        assert (buckets[0, 0], buckets[-1, 1]) == pytest.approx((norms.min(), norms.max()), rel=1e-5)


def test_scores_are_those_of_the_vectors(clustered: Clustered) -> None:
    for score in score_vectors(clustered.model.wv, analogies=[]).pairs:
        assert score.spearman is not None
        for tag in (f"scores/{score.name}", f"final/{score.name}"):
            assert values_of(clustered.folder, tag)[-1] == pytest.approx(100 * score.spearman, abs=1e-3)


def test_neighbours_are_gensims(clustered: Clustered) -> None:
    tables = text_of(clustered.folder, "neighbours")
    assert len(tables) == 1 + EPOCHS
    for probe, row in zip(("fire", "australia"), tables[-1].splitlines()[2:], strict=True):
        nearest = ", ".join(word for word, _ in clustered.model.wv.most_similar(probe, topn=8))
        assert row.replace("**", "") == f"| {probe} | {nearest} |"


def test_the_graph_is_that_of_the_step(clustered: Clustered) -> None:
    graph = events_of(clustered.folder).Graph()
    assert "Tfw2vTrainSkipGram" in {node.op for node in graph.node}


def test_hyperparameters_have_the_size_of_the_cluster(clustered: Clustered) -> None:
    hyperparameters = hyperparameters_of(clustered.folder)
    assert [int(hyperparameters[name].string_value) for name in ("cluster_ps", "cluster_worker", "sg")] == [2, 2, 1]


def test_the_projector_gets_the_vectors(clustered: Clustered) -> None:
    model = clustered.model
    for name, table in (("vectors", model.wv.vectors), ("vectors-output", model.syn1neg)):
        np.testing.assert_array_equal(Plugin(clustered.folder).tensor(name, table.shape[1]), table)


@pytest.mark.slow
def test_the_workers_of_the_cluster_are_traced_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    monkeypatch.chdir(tmp_path)  # the tasks have another working directory
    log = TensorBoardLog("log", pairs=[], projector="none", trace_seconds=3)
    with caplog.at_level(logging.WARNING):
        # Long enough for tasks to begin their traces while they train.
        large = SMALL | {"epochs": 100, "workers": 2, "vector_size": 100, "batch_tokens": 1024}
        large["compute_dtype"] = "float32"  # or processors with bfloat16 multiply matrices instead
        TFWord2Vec(two_topics(8000), **large, cluster=shared_cluster(), logdir=log)
    addresses = shared_cluster().addresses["worker"]
    traces = {path.name: path for path in (tmp_path / "log" / "plugins" / "profile").glob("*/*.xplane.pb")}
    assert set(traces) == {f"{address.replace(':', '_')}.xplane.pb" for address in addresses}
    for path in traces.values():
        planes = xplane_pb2.XSpace.FromString(path.read_bytes()).planes
        names = {metadata.name for plane in planes for metadata in plane.event_metadata.values()}
        assert any("Tfw2vTrainSkipGram" in name for name in names)
    assert "trace" not in caplog.text


@pytest.mark.slow
def test_an_interrupt_does_not_wait_for_the_end_of_a_trace(tmp_path: Path) -> None:
    class Interrupting(CallbackAny2Vec):  # type: ignore[misc]
        def on_epoch_end(self, model: Any) -> None:
            if any(thread.name == "tfw2v-trace" for thread in threading.enumerate()):
                raise KeyboardInterrupt

    log = TensorBoardLog(tmp_path, pairs=[], projector="none", trace_seconds=60)
    with local_cluster(ps=1, workers=1) as cluster:
        with pytest.raises(KeyboardInterrupt):
            TFWord2Vec(two_topics(), min_count=1, epochs=100, cluster=cluster, logdir=log, callbacks=[Interrupting()])
        assert any(thread.name == "tfw2v-trace" for thread in threading.enumerate())


def test_training_goes_on_while_servers_take_their_traces(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with socket.create_server(("127.0.0.1", 0)) as silent:  # a server whose trace does not end
        trace = Trace(tmp_path, seconds=0.001, hosts=[f"127.0.0.1:{silent.getsockname()[1]}"])
        trace.advance(1)
        time.sleep(0.1)
        trace.advance(2)
        assert "tfw2v-trace" in {thread.name for thread in set(threading.enumerate()) - before}
        trace.close(wait=False)
