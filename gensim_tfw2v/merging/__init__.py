"""Vectors of sub-models that trained apart → one matrix of vectors."""
