"""The coordinator of one training on emulated machines: reads what to do from standard input, a line of JSON each."""

from __future__ import annotations

import copy
import itertools
import time
from typing import Any

from measuring.checkout import use_checkout
from measuring.jobs import Job
from measuring.scores import is_finite, scores_of

from machines.trainer import request_of_parent, tell_parent, wait_at

_WARM_UP_BLOCKS = 4  # for each worker
_WARM_UP_ROUNDS = 2


def main() -> int:
    """Build the vocabulary, warm the tasks up, train when told to, and print what was found; the status is 0."""
    use_checkout()
    request = request_of_parent()
    cluster, job = request["cluster"], Job(**request["job"])
    model = _model_of(job, cluster, request["batch_words"])
    model.build_vocab(corpus_file=job.corpus)
    if cluster is not None:
        warm_up(model, job.corpus, len(cluster["worker"]))
    wait_at("warm")
    began = time.perf_counter()
    model.train(
        corpus_file=job.corpus,
        total_examples=model.corpus_count,
        total_words=model.corpus_total_words,
        epochs=job.epochs,
    )
    seconds = time.perf_counter() - began
    wait_at("trained")
    result = {
        "train_seconds": seconds,
        "raw_words": model.corpus_total_words,
        "vocabulary": len(model.wv),
        "losses": getattr(model, "epoch_losses", []),
        "scores": scores_of(model.wv) if job.scores else None,
        "finite": is_finite(model.wv),
        "report": getattr(model, "training_report", None),
    }
    tell_parent(result)
    return 0


def _model_of(job: Job, cluster: Any, batch_words: int | None) -> Any:
    """Return a new model of the job's system: gensim's, or ours on a cluster."""
    if job.system == "gensim":
        from gensim.models import Word2Vec

        return Word2Vec(**job.gensim_arguments())
    from gensim_tfw2v import TFWord2Vec

    own = job.own_arguments() | ({} if batch_words is None else {"batch_words": batch_words})
    return TFWord2Vec(**job.gensim_arguments(), **own, cluster=cluster, allow_network=True)


def warm_up(model: Any, corpus: str, workers: int) -> None:
    """Train a copy on the first words of the corpus, a few blocks a worker, so that every task has made its graphs."""
    from gensim.models.word2vec import LineSentence

    from gensim_tfw2v.model.training_plan import placement_for
    from gensim_tfw2v.placement.designs import DESIGNS

    trial = copy.deepcopy(model)
    trial.cluster, trial.allow_network = model.cluster, model.allow_network
    choice = placement_for(trial, trial.cluster, model.corpus_total_words)
    # Blocks are as large as they are going to be, so that they have as many parts. All workers share a round.
    has_rounds = "round_words" in DESIGNS[model.distribution].arguments
    blocks = _WARM_UP_ROUNDS if has_rounds else _WARM_UP_BLOCKS * workers
    wanted = blocks * choice.block_words
    lengths = itertools.accumulate(len(sentence) for sentence in LineSentence(corpus))
    sentences = list(
        itertools.islice(LineSentence(corpus), sum(1 for _ in itertools.takewhile(wanted.__gt__, lengths)))
    )
    trial.train(sentences, total_examples=len(sentences), total_words=model.corpus_total_words, epochs=1)


if __name__ == "__main__":
    raise SystemExit(main())
