"""What every design reports of its training, and which arguments it refuses by name."""

from __future__ import annotations

from typing import Any

import pytest
from support.design_placements import ARGUMENTS_OF_DESIGNS
from support.design_promises import DesignPromises
from support.design_trainings import SENTENCES, WORDS, train, undisturbed, untrained
from support.designs import (
    designs_in_one_process,
    designs_on_a_cluster,
    designs_that,
    designs_that_need_a_cluster,
    every_design,
)

from gensim_tfw2v import TFWord2Vec

# Keys of every report on a cluster.
REPORT = {
    *("seconds", "raw_words", "trained_words", "blocks", "bytes", "bytes_per_word", "worker_seconds", "tasks"),
    *("recoveries", "optimizer"),
}
# Metrics of every task, and those of workers alone.
TASK = {
    *("blocks", "cpu_seconds", "memory_bytes", "received_bytes", "sent_bytes", "messages"),
    *("interface_received_bytes", "interface_sent_bytes"),
}
SOMEWHERE = {"ps": ["127.0.0.1:1"], "worker": ["127.0.0.1:2"]}  # a cluster that nobody connects to
# An argument that not every design takes → a value that is allowed where a design takes it.
VALUES: dict[str, Any] = {
    **{"cluster_overlap": True, "vectors_on_servers": True, "round_words": 5000, "backup_workers": 1},
    **{"submodels": 2, "sampling": "random", "sampling_rate": 0.5, "merge": "average", "lbfgs_history": 4},
    **{"max_workers": 2, "blocks_per_call": 4},
}


@designs_on_a_cluster()
def test_a_report_has_words_seconds_and_bytes(design: DesignPromises) -> None:
    model = undisturbed(design.name)
    report = model.training_report
    assert report is not None
    assert report.keys() == REPORT | (design.report_keys or set())
    assert report["raw_words"] == model.epochs * WORDS
    assert report["trained_words"] > 0.95 * model.epochs * WORDS  # sample=0 keeps every word
    assert report["blocks"] >= model.epochs
    assert report["seconds"] > 0
    assert report["worker_seconds"].keys() >= {"make", "compute", "idle"}
    assert report["worker_seconds"]["compute"] > 0
    assert all(seconds >= 0 for seconds in report["worker_seconds"].values())
    assert report["bytes"] > 4 * report["raw_words"]  # of the words' ids
    assert report["bytes_per_word"] == pytest.approx(report["bytes"] / report["raw_words"])
    assert report["recoveries"] == {"count": 0, "seconds": 0.0, "raw_words_again": 0}


@designs_on_a_cluster()
def test_a_report_has_the_metrics_of_every_task(design: DesignPromises) -> None:
    report = undisturbed(design.name).training_report
    assert report is not None
    tasks = report["tasks"]
    assert set(tasks) == set(design.reports_tasks)
    blocks = 0
    for name, metrics in tasks.items():
        if name.startswith(("ps ", "worker ")):
            assert metrics.keys() >= TASK, name
            assert metrics["memory_bytes"] > 1e6 or not metrics["blocks"], name
        if name.startswith("worker "):
            assert metrics["waited_seconds"] >= 0, name
            blocks += metrics["blocks"]
    assert blocks == report["blocks"]


@designs_in_one_process()
def test_one_process_reports_no_tasks_of_a_cluster(design: DesignPromises) -> None:
    report = undisturbed(design.name).training_report
    measured = set() if design.report_keys is None else design.report_keys | {"recoveries"}
    assert report is not None
    assert report.keys() == measured | {"device", "draws", "optimizer"}


def test_the_arguments_of_designs_have_values_here() -> None:
    assert set(VALUES) == ARGUMENTS_OF_DESIGNS


@every_design()
def test_an_argument_that_a_design_does_not_take_is_refused_by_name(design: DesignPromises) -> None:
    taken: dict[str, Any] = {"distribution": design.distribution, "sg": 1, "negative": 5, "cluster": SOMEWHERE}
    for argument, value in VALUES.items():
        with design.registered():
            if argument in design.takes:
                assert getattr(TFWord2Vec(**taken, **{argument: value}), argument) == value
                continue
            message = f"{argument}={value!r} does not go with distribution='{design.distribution}'"
            with pytest.raises(ValueError, match=message):
                TFWord2Vec(**taken, **{argument: value})


@designs_that("refuses")
def test_what_a_design_cannot_train_is_refused_with_the_reason(design: DesignPromises) -> None:
    for arguments, reason in design.refuses:
        taken = {"distribution": design.distribution, "sg": 1, "negative": 5, **arguments}
        with design.registered(), pytest.raises(ValueError, match=rf"distribution='{design.distribution}'.*{reason}"):
            TFWord2Vec(**taken)


@designs_that_need_a_cluster()
def test_a_design_that_needs_a_cluster_says_so(design: DesignPromises) -> None:
    model = untrained(design, cluster=None)
    with pytest.raises(ValueError, match=f"distribution='{design.distribution}' needs a cluster"):
        train(design, model, SENTENCES)
