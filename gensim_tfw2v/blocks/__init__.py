"""Chunks of ids → blocks of batches."""
