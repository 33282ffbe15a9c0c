"""Searches settings: which trainings there are, which of them go on, and what they are compared by."""
