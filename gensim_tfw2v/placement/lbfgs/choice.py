"""A training → a descent in this process or on a cluster, with the size of its portions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gensim_tfw2v import tuning
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.placement.block_size import choose_negative_pool
from gensim_tfw2v.placement.contract import Placement
from gensim_tfw2v.placement.request import ClusterRequest, CorpusSize, LocalRequest, PlacementChoice, TrainingOptions
from gensim_tfw2v.runtime.tensorflow import load_tensorflow, usable_cores
from gensim_tfw2v.steps.settings import ADAGRAD, StepSettings


def choose(request: ClusterRequest) -> PlacementChoice:
    """Return the placement on a cluster, with the raw words of a portion."""
    connection, options = request.connection, request.options
    words = _portion_words(request.size, connection.workers, tuning.MOST_BLOCK_WORDS)

    def make(settings: StepSettings, maker: BlockMaker) -> Placement:
        from gensim_tfw2v.placement.lbfgs.placement import ClusterDescent

        return ClusterDescent(settings, maker, connection, options.timeout, *_history_and_seed(options))

    return PlacementChoice(words, choose_negative_pool(words), make, connection.addresses, uses_kernel=False)


def choose_local(request: LocalRequest) -> PlacementChoice:
    """Return the placement in this process, with the raw words of a portion."""
    threads = min(request.workers, usable_cores())

    def make(settings: StepSettings, maker: BlockMaker) -> Placement:
        load_tensorflow()  # with the package's settings, before modules that import it
        from gensim_tfw2v.placement.lbfgs.local_descent import LocalDescent

        return LocalDescent(settings, maker, request.workers, *_history_and_seed(request.options))

    words = _portion_words(request.size, threads, tuning.MOST_LOCAL_BLOCK_WORDS)
    return PlacementChoice(words, None, make, uses_kernel=False)


def why_not(arguments: Mapping[str, Any]) -> str | None:
    """Return why a model with these arguments cannot be trained by L-BFGS, None if it can be."""
    if arguments.get("hs"):
        return (
            "cannot train hierarchical softmax (hs=1): as in gensim, nodes with clear scores take no step, so the "
            "steps are not the gradient of one loss; set hs=0 and negative, or leave distribution out"
        )
    if not arguments.get("negative", 1):
        return "needs negative sampling (negative=0 has no loss without hs=1); set negative, or leave distribution out"
    if arguments.get("optimizer") == ADAGRAD:
        return "is an optimizer itself, and has no steps for optimizer='adagrad'; leave one of them out"
    if freeze := arguments.get("freeze"):
        return (
            f"cannot train with {freeze=}: every step is along one direction of all vectors together; leave freeze "
            "out, or choose another distribution"
        )
    if arguments.get("weights") is not None:
        return (
            "cannot train with weights: its loss counts every sentence once; leave weights out, or choose another "
            "distribution"
        )
    for name in ("cluster_dtype", "compute_dtype"):
        if arguments.get(name) == "bfloat16":
            return f"needs exact losses and gradients, for which {name}='bfloat16' is too coarse; leave {name} out"
    return None


def _history_and_seed(options: TrainingOptions) -> tuple[int, int]:
    return options.of_design["lbfgs_history"] or tuning.LBFGS_HISTORY, options.seed or 0


def _portion_words(size: CorpusSize, workers: int, most_words: int) -> int:
    """Return how many raw words a worker takes at a time: much less than its share of the corpus."""
    if chosen := size.chunk_words or size.batch_words:
        return chosen
    words = size.total_words // (tuning.PORTIONS_PER_WORKER * workers)
    return min(max(words, tuning.LEAST_PORTION_WORDS), most_words)
