"""The program that trains Spark's Word2Vec on a standalone cluster; a Python that has pyspark runs it."""

from __future__ import annotations

import itertools
import os
import sys
import time
from typing import Any

from measuring.jobs import Job

from machines.trainer import request_of_parent, tell_parent, wait_at

_WARM_UP_WORDS = 20_000  # for each worker
_WARM_UP_EPOCHS = 2
_MEASURED = "measured"
_PIECE_WORDS = 10_000  # of which gensim cuts overlong sentences


def main() -> int:
    """Warm the executors up, train when told to, write the vectors, and print what it took; the status is 0."""
    _keep_output_for_messages()
    request = request_of_parent()
    job = Job(**request["job"])
    session = _session(request, job.workers)
    sentences = _sentences(session, job.corpus)
    first = sentences.limit(_lines_with(job.corpus, _WARM_UP_WORDS * job.workers))
    _word2vec(job, _WARM_UP_EPOCHS).fit(first)
    session.sparkContext.setJobGroup(_MEASURED, "the training that is measured")
    wait_at("warm")
    began = time.perf_counter()
    model = _word2vec(job, job.epochs).fit(sentences)
    seconds = time.perf_counter() - began
    wait_at("trained")
    counting = _seconds_of_counting(session)
    _write_vectors(model, request["vectors"])
    tell_parent({"train_seconds": seconds - counting, "fit_seconds": seconds, "build_vocab_seconds": counting})
    session.stop()
    return 0


def _keep_output_for_messages() -> None:
    """Let standard output belong to this process's messages; Java's lines go to standard error."""
    sys.stdout = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)


def _session(request: dict[str, Any], workers: int) -> Any:
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.host": request["host"],
        "spark.driver.bindAddress": request["host"],
        "spark.driver.memory": request["memory"],
        "spark.driver.extraJavaOptions": request["java_options"],
        "spark.executor.memory": request["memory"],
        "spark.executor.extraJavaOptions": request["java_options"],
        "spark.executor.cores": 1,
        "spark.cores.max": workers,
        "spark.default.parallelism": workers,
        "spark.sql.shuffle.partitions": workers,
        "spark.sql.files.minPartitionNum": workers,
        "spark.sql.files.openCostInBytes": 1,  # otherwise a part of the corpus has 4 MB at least
        "spark.scheduler.minRegisteredResourcesRatio": 1.0,  # all workers take part from the beginning
        "spark.scheduler.maxRegisteredResourcesWaitingTime": f"{request['patience']}s",
        "spark.network.timeout": f"{request['patience']}s",
        "spark.executor.heartbeatInterval": f"{request['patience'] // 10}s",
        "spark.ui.enabled": "false",
    }
    builder = SparkSession.builder.master(request["master"]).appName("word2vec")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _sentences(session: Any, corpus: str) -> Any:
    """Return a table whose column "words" has a list of words for every line."""
    from pyspark.sql.functions import col, split, trim

    return session.read.text(f"file://{corpus}").select(split(trim(col("value")), r"\s+").alias("words"))


def _lines_with(corpus: str, words: int) -> int:
    """Return how many first lines of a corpus have so many words."""
    with open(corpus, "rb") as lines:
        counts = itertools.accumulate(len(line.split()) for line in lines)
        return 1 + sum(1 for _ in itertools.takewhile(words.__gt__, counts))


def _word2vec(job: Job, epochs: int) -> Any:
    from pyspark.ml.feature import Word2Vec

    return Word2Vec(
        vectorSize=job.vector_size,
        windowSize=job.window,
        minCount=job.min_count,
        stepSize=job.alpha,
        maxIter=epochs,
        numPartitions=job.workers,
        maxSentenceLength=_PIECE_WORDS,
        seed=job.seed,
        inputCol="words",
        outputCol="vector",
    )


def _seconds_of_counting(session: Any) -> float:
    """Return the seconds of the first job of the measured training, which counts the words."""
    found = session.sparkContext._jsc.sc().statusStore().jobsList(None)
    jobs = [found.apply(number) for number in range(found.size())]
    measured = (job for job in jobs if job.jobGroup().isDefined() and job.jobGroup().get() == _MEASURED)
    first = min(measured, key=lambda job: int(job.jobId()))
    return float(first.completionTime().get().getTime() - first.submissionTime().get().getTime()) / 1000


def _write_vectors(model: Any, path: str) -> None:
    """Write vectors in word2vec's text format."""
    rows = model.getVectors().collect()
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{len(rows)} {len(rows[0].vector)}\n")
        for row in rows:
            file.write(f"{row.word} {' '.join(map(repr, row.vector.toArray().tolist()))}\n")


if __name__ == "__main__":
    raise SystemExit(main())
