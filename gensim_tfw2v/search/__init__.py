"""Searches settings: which candidates there are, which of them are trained longer, and how they are compared."""
