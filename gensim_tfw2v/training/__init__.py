"""Training: the epoch loop and the progress that it reports."""
