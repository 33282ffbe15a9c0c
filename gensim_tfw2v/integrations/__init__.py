"""Vectors of words in the programs of other libraries."""
