"""The parts of a worker's process that all designs use: models, assignments, blocks and reports."""
