"""Edges of a graph → random walks, a corpus whose words are nodes."""
