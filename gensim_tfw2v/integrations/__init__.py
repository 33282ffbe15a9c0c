"""Vectors of words in the programs of other libraries, and clusters that others start."""
