"""This machine → its costs of training, measured in about two minutes. It trains, so it imports TensorFlow."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.blocks.batch_shape import power_of_two_below
from gensim_tfw2v.cluster.local import LocalCluster, local_cluster
from gensim_tfw2v.planning.frequencies import WordFrequencies
from gensim_tfw2v.planning.machines import Machine
from gensim_tfw2v.planning.profiles import MODES, Profile, RowCost, StepCost, nearest_stored
from gensim_tfw2v.runtime.processor import processor_name
from gensim_tfw2v.runtime.tensorflow import load_tensorflow, usable_cores
from gensim_tfw2v.word2vec import TFWord2Vec

_WORDS, _VOCABULARY, _MIN_COUNT, _SENTENCE_WORDS, _TOPIC_WORDS = 1_000_000, 20_000, 1, 20, 2000
_SIZES = (100, 300)  # of vectors
_WORKERS = 2  # of the cluster: changes of concurrent blocks are scaled, which takes time
_CLUSTER_RUNS = ((100, 16_384), (100, 131_072), (300, 16_384))  # vector size and words of a block
_COPIED_BYTES, _COPIES = 1 << 28, 3
_FIRST_GRAPH_SECONDS = 0.5
_TRAININGS = 3  # whose least time counts: other programs and a warm processor only add
_MOST_THREADS = 2  # that train side by side; with idle cores, TensorFlow moves work between them, which takes longer


@dataclass(frozen=True)
class ClusterCosts:
    """What tasks of a cluster compute for each raw word of a training, in nanoseconds."""

    block_words: float
    bytes_a_word: float  # between workers and servers
    worker: float  # beside steps
    server: float
    coordinator: float


def calibrate(say: Callable[[str], None]) -> Profile:
    """Return the costs of this machine. `say` gets a line before each part of the measurement."""
    say("TensorFlow starts")
    start_seconds = _seconds_of(load_tensorflow) + _FIRST_GRAPH_SECONDS
    with tempfile.TemporaryDirectory(prefix="tfw2v-plan-") as folder:
        corpus = str(Path(folder) / "corpus.txt")
        write_corpus(corpus)
        counting = 1e9 * _seconds_of(lambda: _model("cbow-neg", 1).scan_vocab(corpus_file=corpus, workers=1)) / _WORDS
        steps = {}
        for mode in MODES:
            say(f"this process trains {mode}")
            steps[mode] = _step_cost(corpus, mode)
        say(f"a cluster of 1 server and {_WORKERS} workers starts")
        with local_cluster(ps=1, workers=_WORKERS) as cluster:
            runs = []
            for vector_size, block_words in _CLUSTER_RUNS:
                say(f"the cluster trains blocks of {block_words:,} words with vectors of {vector_size} numbers")
                runs.append(_cluster_costs(corpus, cluster, vector_size, block_words))
    worker, server, coordinator_word, coordinator_block = fitted_costs(runs)
    return Profile(
        processor=processor_name(),
        steps=steps,
        worker=measured_or_stored(worker, say),
        server=server,
        coordinator_nanoseconds_a_word=coordinator_word,
        coordinator_milliseconds_a_block=coordinator_block,
        counting_nanoseconds_a_word=counting,
        start_seconds=start_seconds,
        memory_bytes_a_second=_copied_bytes_a_second(),
    )


def write_corpus(path: str) -> None:
    """Write a text whose words are drawn by the law of `WordFrequencies`, and repeat as in texts."""
    frequencies = WordFrequencies.of_law(_VOCABULARY, _WORDS, _MIN_COUNT)
    shares = np.repeat(frequencies.shares, frequencies.words.astype(np.int64))
    random, topics = np.random.default_rng(1), _WORDS // _TOPIC_WORDS
    drawn = random.choice(len(shares), (topics, round(_TOPIC_WORDS * frequencies.repetition)), p=shares / shares.sum())
    # The other words of a topic are some of those again.
    again = random.integers(0, drawn.shape[1], (topics, _TOPIC_WORDS - drawn.shape[1]))
    ids = random.permuted(np.hstack([drawn, np.take_along_axis(drawn, again, axis=1)]), axis=1)
    sentences = ids.reshape(-1, _SENTENCE_WORDS).tolist()
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"{' '.join(f'w{number}' for number in sentence)}\n" for sentence in sentences)


def fitted_costs(runs: list[ClusterCosts]) -> tuple[RowCost, RowCost, float, float]:
    """Return the costs of workers, of servers, and of the coordinator by word and by block.

    Costs are those whose sums are nearest to the measured ones, none of them negative.
    """
    from scipy.optimize import nnls

    def fitted(sizes: list[float], measured: list[float]) -> tuple[float, float]:
        parts = np.array([sizes, [1e6 / run.block_words for run in runs]]).T
        (first, second), _ = nnls(parts, np.maximum(measured, 0.0))
        return float(first), float(second)

    sent = [run.bytes_a_word for run in runs]
    worker = RowCost(*fitted(sent, [run.worker for run in runs]))
    server = RowCost(*fitted(sent, [run.server for run in runs]))
    return worker, server, *fitted([1.0] * len(runs), [run.coordinator for run in runs])


def measured_or_stored(worker: RowCost, say: Callable[[str], None]) -> RowCost:
    """Return a worker's costs beside steps, or those of a stored profile if other programs hid them."""
    if worker != RowCost(0.0, 0.0):
        return worker
    say(
        "other programs used this machine, so what workers compute beside steps is taken from a stored profile; "
        "calibrate again when the machine is idle"
    )
    return nearest_stored().worker


def _model(mode: str, vector_size: int, **arguments: Any) -> TFWord2Vec:
    skip_gram, tree = MODES[mode]
    return TFWord2Vec(
        vector_size=vector_size,
        sg=int(skip_gram),
        hs=int(tree),
        negative=0 if tree else 5,
        min_count=_MIN_COUNT,
        progress=False,
        # As for large corpora: this small one would have smaller batches with hierarchical softmax.
        batch_tokens=power_of_two_below(min(tuning.MOST_BATCH_TOKENS, tuning.MOST_BATCH_NUMBERS / vector_size)),
        **arguments,
    )


def _step_cost(corpus: str, mode: str) -> StepCost:
    times = []
    for vector_size in _SIZES:
        seconds, tokens = _seconds_of_one_core(mode, vector_size, corpus)
        times.append(seconds * 1e9 / tokens)
    of_a_number = max((times[1] - times[0]) / (_SIZES[1] - _SIZES[0]), 0.0)
    return StepCost(max(times[0] - of_a_number * _SIZES[0], 0.0), of_a_number)


def _seconds_of_one_core(mode: str, vector_size: int, corpus: str) -> tuple[float, int]:
    """Return the processor time of a training on one core, and its tokens."""
    threads = min(usable_cores(), _MOST_THREADS)
    seconds, tokens = _processor_seconds(_model(mode, vector_size, workers=threads), corpus)
    return seconds * Machine(threads).training_cores / threads, tokens


def _cluster_costs(corpus: str, cluster: LocalCluster, vector_size: int, block_words: int) -> ClusterCosts:
    """Return what tasks compute beside steps, which one core takes for the same words here."""
    steps, _ = _seconds_of_one_core("sg-neg", vector_size, corpus)
    model = _model("sg-neg", vector_size, workers=_WORKERS, batch_words=block_words, cluster=cluster)
    coordinator, _ = _processor_seconds(model, corpus)
    report = model.training_report
    assert report is not None
    seconds = {"worker": 0.0, "ps": 0.0}
    for task, metrics in report["tasks"].items():
        seconds[task.partition(" ")[0]] += metrics["cpu_seconds"]
    nanoseconds = 1e9 / _WORDS
    return ClusterCosts(
        _WORDS / report["blocks"],
        report["bytes"] / _WORDS - 4,  # without ids
        (seconds["worker"] - steps) * nanoseconds,
        seconds["ps"] * nanoseconds,
        coordinator * nanoseconds,
    )


def _processor_seconds(model: TFWord2Vec, corpus: str) -> tuple[float, int]:
    """Return this process's least processor time of some trainings after the one that makes graphs, and its tokens."""
    model.build_vocab(corpus_file=corpus)
    times = []
    for _ in range(1 + _TRAININGS):
        model.min_alpha_yet_reached = model.alpha  # else gensim warns that the rate rises again in a second training
        began = time.process_time()
        tokens, _ = model.train(corpus_file=corpus, total_words=_WORDS, total_examples=model.corpus_count, epochs=1)
        times.append((time.process_time() - began, tokens))
    return min(times[1:])


def _copied_bytes_a_second() -> float:
    source = np.zeros(_COPIED_BYTES, np.uint8)
    target = source.copy()
    seconds = min(_seconds_of(lambda: np.copyto(target, source)) for _ in range(_COPIES))
    return 2 * _COPIED_BYTES / seconds  # read and written


def _seconds_of(act: Callable[[], Any]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began
