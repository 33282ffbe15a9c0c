"""A training → rounds, each of which is cut into parts: one for every worker of a cluster, or always the same ones."""

from __future__ import annotations

import logging

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.placement.block_size import choose_negative_pool
from gensim_tfw2v.placement.calls.ramp_up import all_present
from gensim_tfw2v.placement.contract import Placement
from gensim_tfw2v.placement.local.calls import calls_of_one_core
from gensim_tfw2v.placement.request import ClusterRequest, LocalRequest, PlacementChoice
from gensim_tfw2v.placement.synchronous.round_size import RoundSize, reproducible_rounds, rounds_for_workers
from gensim_tfw2v.steps.settings import StepSettings

logger = logging.getLogger(__name__)


def choose_local(request: LocalRequest) -> PlacementChoice:
    """Return this process, whose threads train the parts of rounds that do not depend on the number of threads."""
    size = request.size
    rounds = reproducible_rounds(size)

    def make(settings: StepSettings, maker: BlockMaker) -> Placement:
        from gensim_tfw2v.placement.synchronous.local_rounds import LocalRounds

        calls = calls_of_one_core(request.workers)
        return LocalRounds(settings, maker, calls, rounds.parts, rounds.in_training(size))

    return PlacementChoice(rounds.words, choose_negative_pool(rounds.part_words), make)


def choose(request: ClusterRequest) -> PlacementChoice:
    """Return the placement, with the size of its rounds. Raise ValueError if no worker is left to wait for."""
    connection, options = request.connection, request.options
    backup_workers = options.of_design["backup_workers"]
    rounds = _rounds(request)
    if backup_workers >= rounds.parts:
        raise ValueError(
            f"{backup_workers=} leaves a round no worker to wait for: workers={rounds.parts} train "
            "side by side; it must be smaller than their number"
        )
    _warn_of_idle_cores(request)
    is_exact = request.one_by_one or options.reproducible
    row_type = options.dtype or ("float32" if is_exact else "bfloat16")

    def make(settings: StepSettings, maker: BlockMaker) -> Placement:
        from gensim_tfw2v.placement.synchronous.placement import RoundPlacement

        # Reproducible rounds have the same parts for any number of workers. A late part keeps its slot.
        are_cut_anew = request.has_changing_workers and not options.reproducible and not backup_workers
        share_present = connection.share_present if are_cut_anew else all_present
        return RoundPlacement(settings, maker, request, rounds, row_type, share_present)

    return PlacementChoice(rounds.words, choose_negative_pool(rounds.part_words), make, connection.known_addresses())


def _rounds(request: ClusterRequest) -> RoundSize:
    """Return the size of a cluster's rounds."""
    size, round_words = request.size, request.options.of_design["round_words"]
    if request.options.reproducible:
        return reproducible_rounds(size, round_words)
    return rounds_for_workers(size, 1 if request.one_by_one else request.connection.workers, round_words)


def _warn_of_idle_cores(request: ClusterRequest) -> None:
    if request.cores > 1:
        logger.warning(
            "synchronous rounds use 1 of %i cores of each worker, to stay reproducible; start a worker with --cores 1 "
            "for each core, or choose another distribution",
            request.cores,
        )
