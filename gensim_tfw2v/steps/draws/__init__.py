"""Draws in TensorFlow's own operations: a chunk's words → the tensors of its block, on the device that trains it."""
