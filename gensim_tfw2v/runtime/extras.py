"""Packages that only some features need: each comes with an extra of this package."""

from __future__ import annotations


class MissingPackageError(ImportError):
    """A package is not installed that a feature needs. The message names it and the extra that installs it."""

    def __init__(self, feature: str, package: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs the package {package}, which is not installed: pip install {package}, or the "
            f"extra gensim-tfw2v[{extra}] from a clone"
        )
