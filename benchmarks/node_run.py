"""The coordinator of one training of `nodes.py`: reads what to do from standard input, a line of JSON at a time."""

from __future__ import annotations

import copy
import itertools
import json
import os
import sys
import threading
import time
from typing import Any

from checkout import use_checkout
from jobs import Job
from one_run import is_finite, scores_of

_WARM_UP_BLOCKS = 4  # for each worker
_BLOCK_DESIGNS = ("downpour", "columns")  # whose chunks are blocks of a worker
_WARM_UP_ROUNDS = 2
_SECONDS_BETWEEN_LOOKS = 0.5


def main() -> int:
    """Build the vocabulary, warm the tasks up, train when told to, and print what was found; the status is 0."""
    use_checkout()
    from gensim_tfw2v import TFWord2Vec

    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    request = json.loads(sys.stdin.readline())
    cluster, job = request["cluster"], Job(**request["job"])
    own_block = {} if request["batch_words"] is None else {"batch_words": request["batch_words"]}
    model = TFWord2Vec(
        **job.gensim_arguments(), **job.own_arguments(), **own_block, cluster=cluster, allow_network=True
    )
    model.build_vocab(corpus_file=job.corpus)
    warm_up(model, job.corpus, len(cluster["worker"]))
    _say_and_wait("warm")
    began = time.perf_counter()
    model.train(
        corpus_file=job.corpus,
        total_examples=model.corpus_count,
        total_words=model.corpus_total_words,
        epochs=job.epochs,
    )
    seconds = time.perf_counter() - began
    _say_and_wait("trained")
    result = {
        "train_seconds": seconds,
        "raw_words": model.corpus_total_words,
        "vocabulary": len(model.wv),
        "losses": model.epoch_losses,
        "scores": scores_of(model.wv) if job.scores else None,
        "finite": is_finite(model.wv),
        "report": model.training_report,
    }
    print(json.dumps(result), flush=True)
    return 0


def warm_up(model: Any, corpus: str, workers: int) -> None:
    """Train a copy on the first words of the corpus, a few blocks a worker, so that every task has made its graphs."""
    from gensim.models.word2vec import LineSentence

    from gensim_tfw2v.model.training_plan import placement_for

    trial = copy.deepcopy(model)
    trial.cluster, trial.allow_network = model.cluster, model.allow_network
    choice = placement_for(trial, trial.cluster, model.corpus_total_words)
    # Blocks are as large as they are going to be, so that they have as many parts. All workers share a round.
    blocks = _WARM_UP_BLOCKS * workers if model.distribution in _BLOCK_DESIGNS else _WARM_UP_ROUNDS
    wanted = blocks * choice.block_words
    lengths = itertools.accumulate(len(sentence) for sentence in LineSentence(corpus))
    sentences = list(
        itertools.islice(LineSentence(corpus), sum(1 for _ in itertools.takewhile(wanted.__gt__, lengths)))
    )
    trial.train(sentences, total_examples=len(sentences), total_words=model.corpus_total_words, epochs=1)


def _say_and_wait(stage: str) -> None:
    print(json.dumps(stage), flush=True)
    sys.stdin.readline()


def end_with(parent: int) -> None:
    """End this process as soon as the one that started it has ended, however that was."""
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)


if __name__ == "__main__":
    raise SystemExit(main())
