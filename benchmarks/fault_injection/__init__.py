"""Trainings whose processes are killed, stopped and cut off: the faults, the cluster, and the coordinator."""
