"""One measurement: its settings, the systems that can be measured, how one is run, and what its vectors score."""
