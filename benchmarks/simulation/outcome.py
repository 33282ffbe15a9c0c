"""What a simulated training came to."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Tally:
    """Counts while the training runs."""

    words: int = 0  # trained and in the tables
    blocks: int = 0
    calls: float = 0.0  # of the coordinator
    bytes: float = 0.0
    idle_seconds: float = 0.0  # of all workers: they wait for the coordinator or for others
    lost_words: float = 0.0  # trained and lost with a worker, and trained again
    stale_words: list[int] = field(default_factory=list)  # of each block: words of others between its pull and push
    stale_blocks: list[int] = field(default_factory=list)

    def repeat_since(self, before: Tally, times: float) -> None:
        """Count what was counted since then so many times more."""
        for name in ("words", "blocks", "calls", "bytes", "idle_seconds", "lost_words"):
            found, earlier = getattr(self, name), getattr(before, name)
            setattr(self, name, found + type(found)(times * (found - earlier)))


@dataclass(frozen=True)
class Outcome:
    """Figures of a training, or of its first blocks."""

    seconds: float
    words: int
    blocks: int
    calls: float
    bytes_a_word: float
    words_a_second: float
    idle_share: float  # of the workers' time
    staleness_words: float  # mean of the blocks
    staleness_blocks: float
    lost_share: float  # of all words that were trained
    busy: dict[str, float]  # share of the time in which the cores of each kind of task work

    @property
    def bottleneck(self) -> str:
        """The kind of task whose cores are busy for the largest share of the time."""
        return max(self.busy, key=lambda kind: self.busy[kind])


def mean(values: list[int]) -> float:
    """Return the mean, 0 of nothing."""
    return sum(values) / len(values) if values else 0.0
