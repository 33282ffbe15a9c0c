"""One process of a cell of `cores.py`: prepares, says so, and trains as often as it is told to."""

from __future__ import annotations

import contextlib
import copy
import math
import os
import resource
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from measuring.checkout import use_checkout
from measuring.core_cells import CLUSTER, GENSIM
from measuring.jobs import Job
from measuring.python_lock import lock_address
from measuring.scores import is_finite, scores_of

from machines.processes import cpu_ticks
from machines.trainer import request_of_parent, tell_parent


def main() -> int:
    """Prepare as asked, train at each line "train", and print scores at any other line; the status is 0."""
    use_checkout()
    request = request_of_parent()
    with contextlib.ExitStack() as stack:
        trainer = _prepared(request, stack)
        tell_parent({"lock": lock_address()})
        model = None
        while (line := sys.stdin.readline().strip()) == "train":
            model, result = trainer.train()
            tell_parent(result)
        if line:
            os.sched_setaffinity(0, request["all_processors"])
            tell_parent(scores_of(model.wv))
    return 0


@dataclass
class Trainer:
    """A model that is prepared, and what its training takes."""

    model: Any
    corpus: CorpusPart
    tasks: dict[str, list[int]]  # processes of a cluster by job

    def train(self) -> tuple[Any, dict[str, Any]]:
        """Return a trained copy of the model, and what its training took."""
        model = copy_of(self.model)
        with measured_blocks() as blocks:
            before = self._used()
            began = time.perf_counter()
            self.corpus.train(model)
            ended = time.perf_counter()
            used = {name: amount - before[name] for name, amount in self._used().items()}
        return model, {
            "train_seconds": ended - began,
            "edge_seconds": (blocks.first_began - began) + (ended - blocks.last_ended) if blocks.count else None,
            "words": self.corpus.words,
            "used": used,
            "blocks": {name: getattr(blocks, name) for name in ("count", "making", "waiting", "calling")},
            "finite": is_finite(model.wv),
            "report": getattr(model, "training_report", None),
        }

    def _used(self) -> dict[str, float]:
        """Return what this process and the cluster's tasks have used so far: seconds, and pages that were mapped."""
        own = resource.getrusage(resource.RUSAGE_SELF)
        ticks = os.sysconf("SC_CLK_TCK")
        tasks = {job: sum(map(cpu_ticks, processes)) / ticks for job, processes in self.tasks.items()}
        return {"user": own.ru_utime, "kernel": own.ru_stime, "page_faults": own.ru_minflt, **tasks}


@dataclass(frozen=True)
class CorpusPart:
    """What a model trains one epoch of: the corpus that it has its vocabulary from, or the first part of it."""

    path: str
    sentences: int
    words: int

    def train(self, model: Any, path: str | None = None) -> None:
        """Train a model on it, or on another file as if it were this one."""
        model.train(
            corpus_file=path or self.path, total_examples=self.sentences, total_words=self.words, epochs=model.epochs
        )


def _prepared(request: dict[str, Any], stack: contextlib.ExitStack) -> Trainer:
    """Return a model with its vocabulary, on the processors asked for; TensorFlow has made its graphs."""
    job, processors, part = Job(**request["job"]), request["processors"], CorpusPart(**request["part"])
    if job.system == GENSIM:
        from gensim.models import Word2Vec

        model = Word2Vec(**job.gensim_arguments())
        model.build_vocab(corpus_file=job.corpus)
        os.sched_setaffinity(0, processors["own"])  # also of the threads that this one starts
        return Trainer(model, part, {})
    cluster, tasks = _cluster(processors, request["worker_cores"], stack) if job.system == CLUSTER else (None, {})
    os.sched_setaffinity(0, processors["own"])  # before TensorFlow makes its threads, as many as it may use
    from gensim_tfw2v import TFWord2Vec

    # A model with workers=1 has one block in flight and sends float32, whatever the cluster.
    workers = job.workers if cluster is None else max(2, job.workers)
    arguments = job.gensim_arguments() | {"workers": workers} | job.own_arguments()
    if request["batch_words"] is not None:
        arguments["batch_words"] = request["batch_words"]
    model = TFWord2Vec(**arguments, progress=False, cluster=cluster)
    model.build_vocab(corpus_file=job.corpus)
    part.train(copy_of(model), request["warm_up"])
    return Trainer(model, part, tasks)


def _cluster(
    processors: dict[str, list[int]], worker_cores: int, stack: contextlib.ExitStack
) -> tuple[Any, dict[str, list[int]]]:
    """Return a cluster with a server, and with workers of so many of the processors, and its processes by job."""
    from gensim_tfw2v import local_cluster

    workers = len(processors["worker"]) // worker_cores
    with tasks_on(processors, worker_cores):
        cluster = stack.enter_context(local_cluster(ps=1, workers=workers, cores=worker_cores))
    tasks: dict[str, list[int]] = {}
    for (job, _), process in cluster.processes.items():
        tasks.setdefault(job, []).append(process.pid)
    return cluster, tasks


def copy_of(model: Any) -> Any:
    """Return a copy of a model, on the same cluster."""
    copied = copy.deepcopy(model)
    if hasattr(model, "cluster"):
        copied.cluster = model.cluster
    return copied


@contextlib.contextmanager
def tasks_on(processors: dict[str, list[int]], worker_cores: int) -> Iterator[None]:
    """Give each worker that is started meanwhile so many processors of its own, and servers all that are theirs."""
    from gensim_tfw2v.cluster.local import LocalCluster

    start, own = LocalCluster.start, os.sched_getaffinity(0)

    def start_there(self: Any, job: str, task: int) -> None:
        allowed: Sequence[int] = processors[job]
        if job == "worker":
            allowed = allowed[task * worker_cores :][:worker_cores]
        os.sched_setaffinity(0, allowed)
        try:
            start(self, job, task)
        finally:
            os.sched_setaffinity(0, own)

    LocalCluster.start = start_there
    try:
        yield
    finally:
        LocalCluster.start = start


@dataclass
class Blocks:
    """What the threads that train blocks did, in seconds, all threads together."""

    count: int = 0
    making: float = 0.0  # processor time: NumPy makes a block of a chunk
    waiting: float = 0.0  # until blocks were made, beyond that time: for Python's lock or a core
    calling: float = 0.0  # processor time: a graph is called, which other threads run
    first_began: float = math.inf  # on the clock of `time.perf_counter`, as the next
    last_ended: float = 0.0


@contextlib.contextmanager
def measured_blocks() -> Iterator[Blocks]:
    """Measure the blocks that threads of this process train meanwhile, none of a cluster or of gensim's class."""
    from gensim_tfw2v.placement.local.placement import LocalPlacement

    train_chunk, train_prepared = LocalPlacement.train_chunk, LocalPlacement.train_prepared
    blocks, lock, own = Blocks(), threading.Lock(), threading.local()

    def timed_call(self: Any, prepared: Any) -> Any:
        began = time.thread_time()
        metrics = train_prepared(self, prepared)
        own.calling = time.thread_time() - began
        return metrics

    def timed_chunk(self: Any, task: Any) -> Any:
        own.calling = 0.0  # of a chunk that leaves no block
        first, began = time.perf_counter(), time.thread_time()
        trained = train_chunk(self, task)
        making = time.thread_time() - began - own.calling
        with lock:
            blocks.count += 1
            blocks.making += making
            blocks.waiting += trained.seconds_preparing - making
            blocks.calling += own.calling
            blocks.first_began = min(blocks.first_began, first)
            blocks.last_ended = time.perf_counter()
        return trained

    LocalPlacement.train_chunk, LocalPlacement.train_prepared = timed_chunk, timed_call
    try:
        yield blocks
    finally:
        LocalPlacement.train_chunk, LocalPlacement.train_prepared = train_chunk, train_prepared


if __name__ == "__main__":
    raise SystemExit(main())
