"""Fuzz targets: what reads files and messages, given damaged and awkward ones. `scripts/fuzz` runs them for minutes."""
