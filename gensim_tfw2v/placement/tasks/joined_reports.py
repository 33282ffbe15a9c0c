"""Reports of blocks that a call trains one after the other → one report, in the worker's graph."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.placement.tasks.block_report import BlockReport, ServersReport, StageSeconds, TableRows, no_report
from gensim_tfw2v.placement.tasks.refused_steps import nothing_moved


def report_before(servers: int) -> BlockReport:
    """Return the report before the first block: of no blocks, and no server has refused a change."""
    numbers = no_report(servers)
    assert numbers.servers is not None
    report = numbers._replace(most_moved=nothing_moved(), servers=numbers.servers._replace(is_accepted=1))
    return of_float64(report)


def of_float64(report: BlockReport) -> BlockReport:
    """Return a report whose fields all have the number format in which it is sent."""
    found: BlockReport = tf.nest.map_structure(lambda field: tf.cast(field, tf.float64), report)
    return found


def joined(earlier: BlockReport, later: BlockReport) -> BlockReport:
    """Return the report of all blocks of two reports; metrics of processes are those of the later one."""
    assert earlier.servers is not None and later.servers is not None
    return BlockReport(
        tokens=earlier.tokens + later.tokens,
        seconds=StageSeconds(*_sums(earlier.seconds, later.seconds)),
        most_moved=tf.where(earlier.most_moved[0] < 0, later.most_moved, earlier.most_moved),
        worker=later.worker,
        batches=BatchMetrics(*(tf.concat(both, 0) for both in zip(earlier.batches, later.batches, strict=True))),
        measured=tf.concat([earlier.measured, later.measured], 0),
        pairs=tf.concat([earlier.pairs, later.pairs], 0),
        servers=ServersReport(
            staleness=earlier.servers.staleness + later.servers.staleness,
            is_accepted=tf.minimum(earlier.servers.is_accepted, later.servers.is_accepted),
            exchanged=TableRows(*_sums(earlier.servers.exchanged, later.servers.exchanged)),
            metrics=later.servers.metrics,
            blocks=earlier.servers.blocks + later.servers.blocks,
        ),
    )


def _sums(earlier: Any, later: Any) -> list[Any]:
    return [one + other for one, other in zip(earlier, later, strict=True)]
