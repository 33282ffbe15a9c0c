"""Calls of a cluster's workers: a thread calls each of them, every wait has a limit, and lost workers are named."""
