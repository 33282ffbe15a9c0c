"""Packages that only some features need: most come with an extra of this package."""

from __future__ import annotations


class MissingPackageError(ImportError):
    """A package is not installed that a feature needs. The message names it, and the extra that installs it if any."""

    def __init__(self, feature: str, package: str, extra: str | None = None) -> None:
        or_extra = "" if extra is None else f", or the extra gensim-tfw2v[{extra}] from a clone"
        super().__init__(
            f"{feature} needs the package {package}, which is not installed: pip install {package}{or_extra}"
        )
        self._arguments = feature, package, extra

    def __reduce__(self) -> tuple[type[MissingPackageError], tuple[str, str, str | None]]:
        """Return how another process makes it again: reading processes send it."""
        return MissingPackageError, self._arguments
