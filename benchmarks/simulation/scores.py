"""How stale rows are → how much lower a model scores, by a curve that is fitted on measured trainings.

With s blocks of others between a block's pull and its push, the rows of all of them lack each other's changes. The
score falls by a slope times s times the share of the training that these blocks are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from simulation.measured import cells_of
from simulation.scenario import DOWNPOUR

CLUSTERS = ("designs", "nodes_sg-neg", "nodes_sg-hs", "nodes_avx2", "nodes_1_to_32", "nodes_17m_sg-hs")
EMULATIONS = ("stale_sg", "concurrent_skip_gram_tree")


@dataclass(frozen=True)
class Point:
    """A training with stale rows, beside one of the same results without."""

    name: str
    stale_blocks: float
    stale_words: float
    training_words: float
    loss: float  # of its score, by that of one worker; less than 0: it scores higher

    @property
    def staleness(self) -> float:
        """What the loss is taken to be proportional to."""
        return staleness_of(self.stale_blocks, self.stale_words, self.training_words)


def staleness_of(stale_blocks: float, stale_words: float, training_words: float) -> float:
    """Return the blocks of others that a block does not see, times the share of the training that these are."""
    return stale_blocks * stale_words / training_words


def points_of(results: Path) -> list[Point]:
    """Return the measured trainings of skip-gram."""
    return [*_of_clusters(results), *_of_emulations(results)]


def slope_of(points: Sequence[Point]) -> float:
    """Return the slope of the line through 0 that is nearest to the points, by least squares."""
    return sum(point.staleness * point.loss for point in points) / sum(point.staleness**2 for point in points)


def without_each(points: Sequence[Point]) -> list[tuple[Point, float]]:
    """Return each point with the loss that the line through all others gives it."""
    return [(point, slope_of([other for other in points if other is not point]) * point.staleness) for point in points]


def _of_clusters(results: Path) -> Iterator[Point]:
    for file in CLUSTERS:
        cells = [cell for cell in cells_of(results, file) if cell.design == DOWNPOUR]
        alone = {cell.mode: cell.score for cell in cells if cell.workers == 1}
        for cell in cells:
            if cell.workers > 1:
                words = cell.workload.words * cell.workload.epochs
                stale_words = cell.staleness_blocks * cell.block_words
                loss = 1 - cell.score / alone[cell.mode]
                name = f"{file}, {cell.mode}, {cell.workers} workers"
                yield Point(name, cell.staleness_blocks, stale_words, words, loss)


def _of_emulations(results: Path) -> Iterator[Point]:
    for file in EMULATIONS:
        found = json.loads((results / f"{file}.json").read_text(encoding="utf8"))
        settings = found["settings"]
        alone = next(run["scores"]["mean"] for run in found["runs"] if run["in_flight"] == 1)
        for run in found["runs"]:
            if run["in_flight"] > 1:
                stale = run["in_flight"] - 1
                words = settings["words"] * settings["epochs"]
                name = f"{file}, {run['in_flight']} in flight"
                yield Point(name, stale, stale * run["block_words"], words, 1 - run["scores"]["mean"] / alone)
