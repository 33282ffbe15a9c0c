"""What this process runs on: TensorFlow, the processor, forks."""
