"""Calls of workers that have tables of their own: a thread calls each of them, and waits end when one is lost."""
