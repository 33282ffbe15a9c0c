"""The version of the package, the only place that holds it."""

from __future__ import annotations

__version__ = "0.3.0.dev0"
