"""What a worker's process has, whatever the design: models, assignments, what blocks are made of, and its reports."""
