"""Tasks that are killed in the midst of a training: it ends as the table of designs says."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np
import pytest
from support.child_process import wait_until
from support.contract import assert_equal_models, assert_finite
from support.design_promises import DesignPromises, Outcome
from support.design_trainings import WORDS, Disturbed, ends_within, sentence_at, train, trained, untrained
from support.designs import designs_that
from support.epoch_vectors import EpochVectors
from support.interrupts import kill
from support.placements import leases_on

from gensim_tfw2v import ClusterError, local_cluster
from gensim_tfw2v.cluster import connection
from gensim_tfw2v.cluster.connection import disconnect
from gensim_tfw2v.cluster.local import LocalCluster

SECONDS_TO_END = 150  # longer than any wait that the package limits
ADVICE = r"Start the .* again and call train\(\) for the epochs left"


@pytest.fixture(scope="module")
def mortal_clusters() -> Iterator[Callable[[int], LocalCluster]]:
    """Return a function that returns a cluster whose workers have so many cores."""
    with ExitStack() as running:
        yield functools.cache(lambda cores: running.enter_context(local_cluster(ps=2, workers=2, cores=cores)))


@pytest.fixture
def mortal_cluster(design: DesignPromises, mortal_clusters: Callable[[int], LocalCluster]) -> LocalCluster:
    """Return a cluster of two servers and two workers, of which tests kill tasks that they start again."""
    return mortal_clusters(design.cores)


class Loss:
    """A training on two workers that loses the first task of a job in its second epoch.

    Parameters
    ----------
    outcome : Outcome
        What is to become of it. The task is started again at once if training is to wait for it, and after the
        training otherwise.
    """

    def __init__(self, design: DesignPromises, cluster: LocalCluster, job: str, outcome: Outcome) -> None:
        self._design, self._cluster, self._job, self._outcome = design, cluster, job, outcome
        self._waits = outcome is Outcome.RECOVERS
        self.model = untrained(design, cluster=cluster, workers=2, max_recoveries=int(self._waits))
        self._seen = EpochVectors()

    def check(self) -> None:
        """Train, and check that it ends as it is to."""
        if self._outcome is Outcome.ENDS:
            with pytest.raises(ClusterError, match=ADVICE):
                self._train()
            np.testing.assert_array_equal(self.model.wv.vectors, self._seen.vectors[-1])
            return
        assert self._train() == self.model.epochs * WORDS
        assert_finite(self.model)
        assert len(self.model.epoch_losses) == len(self._seen.vectors) == self.model.epochs
        report = self.model.training_report
        assert report is not None
        assert report["recoveries"]["count"] == int(self._waits)
        lost = [submodel["lost"] > 0 for submodel in report.get("submodels", [])]
        assert lost.count(True) == int(self._outcome is Outcome.LOSES_A_SUBMODEL)

    def _train(self) -> int:
        """Return the raw words that were trained, with all tasks there again."""
        killed = self._cluster.processes[self._job, 0]
        try:
            with ends_within(SECONDS_TO_END):
                corpus = Disturbed(sentence_at(1.5), self._kill)
                return train(self._design, self.model, corpus, callbacks=[self._seen])[1]
        finally:
            assert killed.returncode is not None, "training ended before the task was killed"
            if not self._waits:
                self._cluster.start(self._job, 0)
            self._cluster.wait()

    def _kill(self) -> None:
        kill(self._cluster.processes[self._job, 0])
        if self._waits:
            self._cluster.start(self._job, 0)


def trains_on(worker: int, design: DesignPromises, cluster: LocalCluster) -> bool:
    """Return whether a worker trains blocks in another training."""
    report = trained(design, cluster=cluster, workers=2).training_report
    return report is not None and bool(report["tasks"][f"worker {worker}"]["blocks"])


@designs_that("killed_worker")
def test_a_killed_worker_costs_what_the_table_says_and_trains_again_when_it_is_back(
    design: DesignPromises, mortal_cluster: LocalCluster
) -> None:
    assert design.killed_worker is not None
    loss = Loss(design, mortal_cluster, "worker", design.killed_worker)
    loss.check()
    again = trained(design, cluster=mortal_cluster, workers=2)
    if design.equal_after_killed_worker:
        assert_equal_models(loss.model, again)
    wait_until(lambda: trains_on(0, design, mortal_cluster))
    assert not leases_on(mortal_cluster, "ps", "worker")


@designs_that("killed_server")
def test_a_killed_server_costs_what_the_table_says(design: DesignPromises, mortal_cluster: LocalCluster) -> None:
    assert design.killed_server is not None
    loss = Loss(design, mortal_cluster, "ps", design.killed_server)
    loss.check()
    again = trained(design, cluster=mortal_cluster, workers=2)
    if design.equal_after_killed_server:
        assert_equal_models(loss.model, again)
    assert not leases_on(mortal_cluster, "ps", "worker")


@designs_that("waits_for_servers")
def test_a_server_that_stays_away_is_an_error_that_says_what_to_do_and_the_next_training_works(
    design: DesignPromises, mortal_cluster: LocalCluster
) -> None:
    Loss(design, mortal_cluster, "ps", Outcome.ENDS).check()
    trained(design, cluster=mortal_cluster, workers=2)
    assert not leases_on(mortal_cluster, "ps", "worker")


@designs_that("killed_worker")
def test_a_worker_that_is_away_when_the_coordinator_connects_is_named_and_trains_when_it_is_back(
    design: DesignPromises,
    mortal_cluster: LocalCluster,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(connection, "_START_SECONDS", 1.0)
    disconnect(mortal_cluster.addresses)
    kill(mortal_cluster.processes["worker", 0])
    with ends_within(SECONDS_TO_END):
        report = trained(design, cluster=mortal_cluster, workers=2).training_report
    assert report is not None
    assert not report["tasks"].get("worker 0", {}).get("blocks")
    assert f"no answer within 1 s from worker 0 at {mortal_cluster.addresses['worker'][0]}" in caplog.text
    mortal_cluster.start("worker", 0)
    mortal_cluster.wait()
    if not design.takes_in_late_workers:
        assert not trains_on(0, design, mortal_cluster)
        assert "trains without it until this process is started again" in caplog.text
        disconnect(mortal_cluster.addresses)
    wait_until(lambda: trains_on(0, design, mortal_cluster))
    assert not leases_on(mortal_cluster, "ps", "worker")
