"""The C operations in TensorFlow's own operations: each function takes and returns what its operation does."""
