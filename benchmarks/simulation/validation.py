"""Simulates trainings that were measured, with costs of others, and compares the two."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from simulation.costs import Costs
from simulation.fitting import fit, with_own_words
from simulation.measured import Cell, cells_of
from simulation.outcome import Outcome
from simulation.scenario import AVERAGING, DOWNPOUR, PARTITION, SYNCHRONOUS
from simulation.simulate import simulate

SECONDS_AIM, BYTES_AIM = 0.15, 0.10
FITTED, WORD, PREDICTED, TRANSFERRED = "fitted", "word", "predicted", "transferred"
NOT_USED = (PREDICTED, TRANSFERRED)
# Results with trainings of at least three numbers of workers, and the designs that are compared: costs are those of
# fewest and most workers. The reports in `designs` lack the merge of partition.
FILES = {
    "designs": (DOWNPOUR, SYNCHRONOUS, AVERAGING),
    "designs_partition": (PARTITION,),
    **dict.fromkeys(
        (
            *("designs_sample_0", "nodes_sg-neg", "nodes_cbow-neg", "nodes_sg-hs", "nodes_avx2"),
            *("nodes_1_to_32", "nodes_17m_cbow-neg", "nodes_17m_sg-hs", "nodes_17m_cbow-hs"),
        ),
        (DOWNPOUR,),
    ),
}
_SOURCE = "designs"
_USUAL_MODE = "sg-neg"  # the costs of rows and calls are those of this mode where a mode has none
# Results whose costs are those of `designs`, and where the training with one worker is that says what a word costs.
TRANSFERS = {
    "nodes_sg-neg": "nodes_sg-neg",
    "nodes_cbow-neg": "nodes_cbow-neg",
    "nodes_sg-hs": "nodes_sg-hs",
    "nodes_cbow-hs_8": "nodes_cbow-hs",
    "nodes_cbow-hs_16": "nodes_cbow-hs",
    "nodes_averaging": "nodes_averaging",
}


@dataclass(frozen=True)
class Comparison:
    """A training, measured and simulated."""

    cell: Cell
    outcome: Outcome
    use: str  # "fitted": its costs are among those that were fitted; "word": only what a word costs; else not used

    @property
    def seconds_ratio(self) -> float:
        """Simulated by measured seconds."""
        return self.outcome.seconds / self.cell.seconds

    @property
    def bytes_ratio(self) -> float:
        """Simulated by measured bytes a word."""
        return self.outcome.bytes_a_word / self.cell.bytes_a_word

    @property
    def is_near(self) -> bool:
        """Whether seconds and bytes are as near as is aimed at."""
        return abs(self.seconds_ratio - 1) <= SECONDS_AIM and abs(self.bytes_ratio - 1) <= BYTES_AIM


def validate(results: Path) -> list[Comparison]:
    """Return all trainings that can be compared."""
    found: list[Comparison] = []
    source: dict[tuple[str, str], Costs] = {}
    for file, designs in FILES.items():
        for group in _groups(cell for cell in cells_of(results, file) if cell.design in designs):
            fewest, most = group[0], group[-1]
            costs = fit([fewest, most])
            if file == _SOURCE:
                source[fewest.design, fewest.mode] = costs
            found += [_compare(cell, costs, FITTED if cell in (fewest, most) else PREDICTED) for cell in group]
    for file, file_of_one in TRANSFERS.items():
        alone = next(cell for cell in cells_of(results, file_of_one) if cell.workers == 1)
        mode = alone.mode if (alone.design, alone.mode) in source else _USUAL_MODE
        own = with_own_words(source[alone.design, mode], alone)
        found += [_compare(cell, own, TRANSFERRED) for cell in cells_of(results, file) if cell.workers > 1]
    return found


def _groups(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Return the cells of each design and mode, by number of workers."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in sorted(cells, key=lambda cell: cell.workers):
        groups.setdefault((cell.design, cell.mode), []).append(cell)
    return list(groups.values())


def _compare(cell: Cell, costs: Costs, use: str) -> Comparison:
    return Comparison(cell, simulate(cell.scenario(costs)), use)
