"""TensorBoard: what training does, as event files, and vectors for the projector."""
