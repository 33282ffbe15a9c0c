"""Simulates trainings on clusters, event by event: tasks compute, send rows, wait for each other and are lost."""
