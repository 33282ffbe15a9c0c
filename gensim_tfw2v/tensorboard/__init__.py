"""Logs of training for TensorBoard, and vectors for its projector."""
