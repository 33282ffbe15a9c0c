"""Rounds: all workers train the same version of the servers' tables, and synchronise at the end."""
