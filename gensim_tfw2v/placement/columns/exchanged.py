"""The bytes of training on columns: ids, products, gradients of scores, squares and rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gensim_tfw2v.placement.tasks.block_report import BlockReport, ServersReport
from gensim_tfw2v.placement.tasks.cluster_metrics import ClusterMetrics, Traffic

_SQUARE_BYTES = 4  # of a row's squares, and of its rate
# From or to each server: whether the loop continues, the batch, products, gradients, squares, rates and an answer.
_MESSAGES_OF_A_BATCH, _MESSAGES_OF_A_BLOCK = 7, 4


class Exchanged(NamedTuple):
    """Counts of what a worker exchanges with each server for a block: tensors in a graph, numbers in a report."""

    products: Any  # how many; there are as many gradients of scores
    squares: Any  # how many; there are as many rates
    id_bytes: Any  # of the message with the ids of the block's words


class ColumnMetrics(ClusterMetrics):
    """Adds up block reports.

    Parameters
    ----------
    number_bytes : int
        Bytes of a product that is sent.
    """

    def __init__(self, cores: Sequence[int], servers: int, number_bytes: int) -> None:
        super().__init__(cores, servers, 0)
        self._number_bytes = number_bytes

    def _traffic(self, block: BlockReport, of_servers: ServersReport) -> Traffic:
        exchanged, servers = Exchanged(*map(int, of_servers.exchanged)), len(self._servers)
        numbers = self._number_bytes * exchanged.products + _SQUARE_BYTES * exchanged.squares
        return Traffic(
            pulled=servers * numbers,
            pushed=servers * (numbers + exchanged.id_bytes),
            messages=_MESSAGES_OF_A_BATCH * len(block.pairs) + _MESSAGES_OF_A_BLOCK,
        )
