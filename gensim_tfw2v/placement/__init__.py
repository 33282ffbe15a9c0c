"""Placements: where tables live and steps run."""
