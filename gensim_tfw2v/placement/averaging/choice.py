"""A training for a cluster → rounds on its workers. Every worker has all tables, and the workers average them."""

from __future__ import annotations

from gensim_tfw2v import tuning
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.cluster.health import raise_if_no_worker_answers
from gensim_tfw2v.placement.block_size import choose_exchange_words, choose_round_words
from gensim_tfw2v.placement.contract import Placement
from gensim_tfw2v.placement.request import ClusterRequest, PlacementChoice
from gensim_tfw2v.steps.row_sharing import RowSharing
from gensim_tfw2v.steps.settings import StepSettings


def choose(request: ClusterRequest) -> PlacementChoice:
    """Return the placement, with the raw words of a round.

    Raise ClusterError if no worker answers.
    """
    connection, size, options = request.connection, request.size, request.options
    raise_if_no_worker_answers(connection.addresses["worker"])
    round_words = size.chunk_words or options.of_design["round_words"]
    if round_words is None and size.batch_words is not None:
        round_words = size.batch_words * connection.workers
    if round_words is None:
        cores = connection.workers * request.least_cores
        round_words = choose_round_words(size.total_words, cores, options.skip_gram)
    step_words = choose_exchange_words(size.total_words)

    def make(settings: StepSettings, maker: BlockMaker) -> Placement:
        from gensim_tfw2v.placement.averaging.placement import AveragingPlacement
        from gensim_tfw2v.placement.averaging.round import RoundSettings

        rounds = RoundSettings(
            step_words=step_words,
            most_part_words=tuning.MOST_BLOCK_WORDS * request.least_cores,
            first_words=tuning.FIRST_ROUND_WORDS,
            sharing=RowSharing(tuning.AVERAGED_SHARED_ROWS),
            row_type=options.dtype or "bfloat16",
            cores=request.cores,
        )
        return AveragingPlacement(settings, maker, connection, options.timeout, rounds)

    # No pool of negatives: it would save few rows, because the workers together train nearly all rows in a round.
    return PlacementChoice(round_words, None, make, connection.addresses, request.cores)
