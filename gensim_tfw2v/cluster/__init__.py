"""Tasks of a TensorFlow cluster: starting them, connecting to them, and what they do for each other."""
