"""Models and vectors → files on disk, and back."""
