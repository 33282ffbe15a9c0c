"""TensorFlow, its set-up, and what this process and its processor can do."""
