"""Models and vectors on disk."""
