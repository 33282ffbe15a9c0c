"""Downpour: tables on servers, and workers that train blocks side by side without waiting for each other."""
