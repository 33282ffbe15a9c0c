"""Ids of a chunk → a block of batches."""
