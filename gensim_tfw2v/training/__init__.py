"""The epoch loop and its progress."""
