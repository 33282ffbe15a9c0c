"""Machines that one machine emulates: their network, quotas and processes, and the trainings that run on them."""
