"""Workers join a training and leave it: real processes, whose blocks are all trained once."""

from __future__ import annotations

import itertools
import logging
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.contract import SMALL, topic_gap, two_topics

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.cluster.connection import device
from gensim_tfw2v.cluster.local import LocalCluster, free_addresses, local_cluster, task_environment
from gensim_tfw2v.placement.calls.server_training import ServerTraining
from gensim_tfw2v.placement.tasks.worker_metrics import WorkerMetrics
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

BLOCK = two_topics(125)  # 1,500 words, as many as a block has
PATIENCE_SECONDS = 120.0
MORE_BLOCKS = 12

Step = Callable[[], bool]


@pytest.fixture
def cluster() -> Iterator[LocalCluster]:
    """Return a cluster of a server and two workers, the second of which may leave."""
    with local_cluster(ps=1, workers=2) as made:
        yield made


class Observed:
    """What a training does: the blocks of each worker, and how often the servers were changed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.blocks: Counter[int] = Counter()
        self.pushes: int | None = None
        count, close = WorkerMetrics._count, ServerTraining.close

        def counted(metrics: WorkerMetrics, worker: int, *arguments: Any) -> Any:
            self.blocks[worker] += 1
            return count(metrics, worker, *arguments)

        def closed(training: ServerTraining) -> None:
            tf = load_tensorflow()
            assert training._trained is not None
            with tf.device(device("ps", 0)):
                version = tf.raw_ops.ReadVariableOp(resource=training._trained.version, dtype=tf.int64)
            self.pushes = int(version)
            close(training)

        monkeypatch.setattr(WorkerMetrics, "_count", counted)
        monkeypatch.setattr(ServerTraining, "close", closed)

    def more(self, *workers: int) -> Step:
        """Return a step that ends once each of these workers has trained some more blocks."""
        goals: dict[int, int] = {}

        def is_reached() -> bool:
            for worker in workers:
                goals.setdefault(worker, self.blocks[worker] + MORE_BLOCKS)
            return all(self.blocks[worker] >= goal for worker, goal in goals.items())

        return is_reached


@pytest.fixture
def observed(monkeypatch: pytest.MonkeyPatch) -> Observed:
    """Return what the test's training does."""
    return Observed(monkeypatch)


class Program:
    """A process of `tfw2v`, which a step starts when it is first asked, and waits for."""

    def __init__(self, *arguments: str) -> None:
        self.arguments = arguments
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> bool:
        """Start the process."""
        command = [sys.executable, "-m", "gensim_tfw2v", *self.arguments]
        self.process = subprocess.Popen(
            command, env=task_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        return True

    def has_ended(self) -> bool:
        """Return whether the process has ended, without an error."""
        if self.process is None:
            self.start()
        assert self.process is not None
        assert self.process.poll() in (None, 0), self.process.communicate()[0].decode()
        return self.process.poll() == 0

    def terminated(self) -> bool:
        """Have the process end, and return whether it has, without an error."""
        assert self.process is not None
        if not hasattr(self, "is_told"):
            self.process.send_signal(signal.SIGTERM)
            self.is_told = True
        return self.has_ended()

    def output(self) -> str:
        """Return what the process has printed until its end."""
        assert self.process is not None
        return self.process.communicate(timeout=60)[0].decode()

    def end(self) -> None:
        """Kill the process if it still runs."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def programs() -> Iterator[Callable[..., Program]]:
    """Return a function that makes programs, which end with the test."""
    made: list[Program] = []

    def make(*arguments: str) -> Program:
        made.append(Program(*arguments))
        return made[-1]

    yield make
    for program in made:
        program.end()


class Corpus:
    """Sentences that go on until steps, which are asked one after the other, have all returned True."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self.words = 0

    def __iter__(self) -> Iterator[list[str]]:
        for step in self._steps:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while not step():
                assert time.monotonic() < deadline, f"step {self._steps.index(step)} is not reached"
                self.words += sum(map(len, BLOCK))
                yield from BLOCK


def train(cluster: LocalCluster, corpus: Corpus, **arguments: Any) -> tuple[TFWord2Vec, int]:
    """Return a model that was trained on the corpus, and the raw words that were trained."""
    settings = SMALL | {"batch_words": 1500, "cluster": cluster, "cache_memory": 0} | arguments
    model = TFWord2Vec(**settings)
    model.build_vocab(BLOCK)
    _, words = model.train(corpus, total_examples=100_000, epochs=1)
    return model, words


def trained_here(words: int) -> TFWord2Vec:
    """Return a model that one process has trained on so many words of the same corpus."""
    model = TFWord2Vec(**SMALL | {"batch_words": 1500})
    model.build_vocab(BLOCK)
    sentences = list(itertools.islice(itertools.cycle(BLOCK), words // len(BLOCK[0])))
    model.train(sentences, total_examples=100_000, epochs=1)
    return model


DESIGNS = {
    "downpour": {},
    "downpour with overlap": {"cluster_overlap": True},
    "synchronous": {"distribution": "synchronous", "round_words": 4500},
}


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_a_worker_joins_and_two_leave_and_every_block_is_trained_once(
    design: str,
    cluster: LocalCluster,
    observed: Observed,
    programs: Callable[..., Program],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "gensim_tfw2v")
    server, (own,) = cluster.addresses["ps"][0], free_addresses(1)
    new = programs("server", "--join", server, "--address", own, "--cores", "1")
    drain = programs("cluster", "drain", cluster.addresses["worker"][1])
    steps = [
        *(observed.more(0, 1), new.start, observed.more(0, 1, 2)),
        *(drain.has_ended, observed.more(0, 2)),
        *(new.terminated, observed.more(0)),
    ]
    corpus = Corpus(steps)
    model, words = train(cluster, corpus, max_workers=3, **DESIGNS[design])
    assert words == corpus.words
    report = model.training_report
    assert report is not None
    assert report["raw_words"] == words
    assert sum(observed.blocks.values()) == report["blocks"]
    assert observed.pushes == report["blocks"]
    assert [period["workers"] for period in report["periods"]] == [2, 3, 2, 1]
    assert all(period["words_per_second"] > 0 for period in report["periods"])
    assert topic_gap(model.wv) > 0.5 * topic_gap(trained_here(words).wv)
    assert [line for line in caplog.messages if " is gone" in line or " is back" in line] == []
    assert f"worker 2 at {own} joins" in caplog.messages
    assert "has left" in drain.output()
    assert "takes part as worker 2" in new.output()
    assert cluster.processes["worker", 1].wait(10) == 0


@pytest.mark.slow
def test_a_worker_takes_the_number_of_one_that_has_left(
    cluster: LocalCluster, observed: Observed, programs: Callable[..., Program]
) -> None:
    server, addresses = cluster.addresses["ps"][0], free_addresses(2)
    first, second = (programs("server", "--join", server, "--address", own, "--cores", "1") for own in addresses)
    steps = [
        *(first.start, observed.more(0, 1, 2), second.start, observed.more(0, 1, 2)),
        *(first.terminated, observed.more(0, 1), observed.more(2)),
    ]
    corpus = Corpus(steps)
    model, words = train(cluster, corpus, max_workers=3)
    assert words == corpus.words
    assert model.training_report is not None
    assert [period["workers"] for period in model.training_report["periods"]] == [2, 3, 2, 3]
    assert observed.pushes == model.training_report["blocks"]
    # It stays for the next training.
    corpus = Corpus([observed.more(0, 1, 2)])
    assert train(cluster, corpus, max_workers=3)[1] == corpus.words
    before = observed.blocks[2]
    assert train(cluster, Corpus([observed.more(0, 1)]))[1] > 0
    assert observed.blocks[2] == before


@pytest.mark.slow
def test_reproducible_rounds_give_the_same_vectors_when_workers_join_and_leave(
    cluster: LocalCluster, observed: Observed, programs: Callable[..., Program]
) -> None:
    settings = {"distribution": "synchronous", "reproducible": True, "round_words": 4500, "seed": 3}
    server, (own,) = cluster.addresses["ps"][0], free_addresses(1)
    new = programs("server", "--join", server, "--address", own, "--cores", "1")
    corpus = Corpus([new.start, observed.more(2), new.terminated, observed.more(0, 1)])
    changed, words = train(cluster, corpus, max_workers=3, **settings)
    again = list(itertools.islice(itertools.cycle(BLOCK), words // len(BLOCK[0])))
    model = TFWord2Vec(**SMALL | {"batch_words": 1500, "cluster": cluster} | settings)
    model.build_vocab(BLOCK)
    model.train(again, total_examples=100_000, epochs=1)
    assert (changed.wv.vectors == model.wv.vectors).all()


@pytest.mark.slow
def test_a_worker_of_a_training_that_lets_none_leave_ends_at_once(
    observed: Observed, programs: Callable[..., Program], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with local_cluster(ps=1, workers=1) as cluster:
        (own,) = free_addresses(1)
        addresses = {"ps": cluster.addresses["ps"], "worker": [*cluster.addresses["worker"], own]}
        file = tmp_path / "cluster.json"
        file.write_text(str(addresses).replace("'", '"'))
        second = programs("server", "--job", "worker", "--task", "1", "--cluster", str(file), "--cores", "1")
        second.start()
        corpus = Corpus([observed.more(0, 1), second.terminated, observed.more(0)])
        settings = SMALL | {"batch_words": 1500, "cluster": addresses, "cache_memory": 0}
        model = TFWord2Vec(**settings)
        model.build_vocab(BLOCK)
        assert model.train(corpus, total_examples=100_000, epochs=1)[1] == corpus.words
        assert f"worker 1 at {own} is gone" in caplog.text
        assert model.training_report is not None
        assert "periods" not in model.training_report
