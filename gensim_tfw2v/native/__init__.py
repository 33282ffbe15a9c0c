"""C functions on arrays: they run without Python's lock, and need no TensorFlow."""
