"""A corpus's size, machines and measured costs → memory, traffic, time and cost of a training, without running it."""
