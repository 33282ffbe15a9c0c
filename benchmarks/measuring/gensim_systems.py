"""Trains and times gensim's Word2Vec and ours in this process, with the same code."""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections.abc import Callable
from typing import Any

from measuring.block_times import BlockTimes, timed_blocks
from measuring.checkout import import_tensorflow, use_checkout
from measuring.emulated_threads import emulate_threads
from measuring.jobs import Job, Outcome
from measuring.memory import peak_rss_bytes
from measuring.scores import without_left_out

_SERVERS = 2


def train_gensim(job: Job) -> Outcome:
    """Train gensim's class."""
    from gensim.models import FastText, Word2Vec

    use_checkout()
    cls = FastText if job.subwords else Word2Vec
    return _train(job, cls(**job.gensim_arguments()), prepare=lambda: None)


def train_on_cluster(job: Job) -> Outcome:
    """Train our class on a cluster of processes of this machine: two parameter servers and the job's workers."""
    use_checkout()
    from gensim_tfw2v import local_cluster
    from gensim_tfw2v.runtime.devices import CPU, GPU, kind_and_number

    kind, number = kind_and_number(job.device or CPU)
    if kind == GPU:  # a task uses those that the environment names, and this one by its place among them
        os.environ.setdefault("CUDA_VISIBLE_DEVICES", ",".join(map(str, range(number + 1))))
    began = loopback_bytes()
    with local_cluster(ps=_SERVERS, workers=job.workers) as cluster:
        trained = train_tfw2v(job, cluster)
        trained.loopback_bytes_per_word = (loopback_bytes() - began) / (trained.raw_words * job.epochs)
        return trained


def loopback_bytes() -> int:
    """Return the bytes that this machine, or network namespace, has sent over loopback so far."""
    import psutil

    return int(psutil.net_io_counters(pernic=True)["lo"].bytes_sent)


def train_tfw2v(job: Job, cluster: Any = None) -> Outcome:
    """Train our class. The timed part includes importing TensorFlow."""
    use_checkout()
    from gensim_tfw2v import TFFastText, TFWord2Vec

    if job.draws is not None:
        os.environ["TFW2V_DRAWS"] = job.draws
    if job.cores is not None:
        os.environ["TFW2V_CORES"] = str(job.cores)
    cls = TFFastText if job.subwords else TFWord2Vec
    model = cls(**job.gensim_arguments(), **job.own_arguments(), progress=False, cluster=cluster)
    here = "LocalRounds" if job.reproducible else "LocalPlacement"
    placement = here if cluster is None else "DownpourPlacement"
    blocks, import_seconds = BlockTimes(), 0.0
    with contextlib.ExitStack() as stack:

        def prepare() -> None:
            nonlocal import_seconds
            began = time.perf_counter()
            import_tensorflow()
            import_seconds = time.perf_counter() - began
            if job.emulated_threads is not None:
                emulate_threads(job.emulated_threads)
            stack.enter_context(timed_blocks(placement, blocks))

        trained = _train(job, model, prepare)
    trained.tensorflow_import_seconds = import_seconds
    trained.first_graph_seconds = blocks.first_graph_seconds()
    trained.pairs_per_word = blocks.pairs / (trained.raw_words * job.epochs)
    if model.training_report is not None:
        trained.bytes_per_word = model.training_report.get("bytes_per_word")
    return trained


def _train(job: Job, model: Any, prepare: Callable[[], None]) -> Outcome:
    corpus = corpus_of(job)
    began = time.perf_counter()
    model.build_vocab(**corpus, trim_rule=without_left_out if job.left_out else None)
    build_vocab_seconds = time.perf_counter() - began
    scorer = _EpochScorer() if job.curve else None
    began = time.perf_counter()
    prepare()
    if scorer:
        scorer.began = began
    for rates in _rates_of_calls(job, model):
        model.train(
            **corpus,
            **rates,
            total_examples=model.corpus_count,
            total_words=model.corpus_total_words,
            epochs=job.epochs // job.calls,
            callbacks=[scorer] if scorer else [],
        )
    train_seconds = time.perf_counter() - began
    return Outcome(
        keyed_vectors=model.wv,
        raw_words=model.corpus_total_words,
        build_vocab_seconds=build_vocab_seconds,
        train_seconds=train_seconds - (scorer.own_seconds if scorer else 0.0),
        peak_rss_bytes=peak_rss_bytes(),
        trained_at=time.time(),
        curve=scorer.points if scorer else [],
    )


def _rates_of_calls(job: Job, model: Any) -> list[dict[str, float]]:
    """Return the arguments of each call of `train()` about the learning rate; a single call has none."""
    if job.calls == 1:
        return [{}]
    fall = (model.alpha - model.min_alpha) / job.calls
    rates = [model.alpha - fall * call for call in range(job.calls + 1)]
    return [{"start_alpha": start, "end_alpha": end} for start, end in itertools.pairwise(rates)]


def corpus_of(job: Job) -> dict[str, Any]:
    """Return the corpus as an argument of both classes' methods."""
    if job.input == "corpus_file":
        return {"corpus_file": job.corpus}
    from gensim.models.word2vec import LineSentence

    sentences: Any = list(LineSentence(job.corpus))
    if job.input == "numbers":
        sentences = [[int(word) for word in sentence] for sentence in sentences]
    return {"corpus_iterable": sentences}


class _EpochScorer:
    """A gensim callback that scores the vectors after every epoch, and leaves the time of scoring out."""

    def __init__(self) -> None:
        self.began = 0.0
        self.own_seconds = 0.0
        self.points: list[dict[str, float | None]] = []

    def on_epoch_end(self, model: Any) -> None:
        from gensim_tfw2v.evaluation import score_vectors

        now = time.perf_counter()
        mean = score_vectors(model.wv).mean
        self.points.append({"seconds": now - self.began - self.own_seconds, "mean": mean})
        self.own_seconds += time.perf_counter() - now

    def on_epoch_begin(self, model: Any) -> None:
        pass

    def on_train_begin(self, model: Any) -> None:
        pass

    def on_train_end(self, model: Any) -> None:
        pass
