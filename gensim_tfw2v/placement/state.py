"""The part of a checkpoint that a placement has besides its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class PlacementState:
    """The state that one placement leaves for another one, in another process.

    Parameters
    ----------
    lease : str, optional
        Lease on the tables on servers.
    leases : sequence of str, optional
        Leases on the tables of workers.
    blocks : int, optional
        Blocks trained so far.
    own : mapping
        What only the design reads, by other names, as JSON values.
    """

    lease: str | None = None
    leases: tuple[str, ...] | None = None
    blocks: int | None = None
    own: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> PlacementState:
        """Return the state that `to_json` wrote; what is missing is None."""
        leases, blocks = content.get("leases"), content.get("blocks")
        own = {name: value for name, value in content.items() if name not in ("lease", "leases", "blocks")}
        return cls(
            lease=content.get("lease"),
            leases=None if leases is None else tuple(leases),
            blocks=None if blocks is None else int(blocks),
            own=own,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the state as checkpoints have it, without what is None."""
        leases = None if self.leases is None else list(self.leases)
        shared = {"blocks": self.blocks, "lease": self.lease, "leases": leases}
        return {name: value for name, value in shared.items() if value is not None} | dict(self.own)

    def all_leases(self) -> tuple[str, ...]:
        """Return the leases of all tables on tasks."""
        return (self.lease,) if self.lease else self.leases or ()
