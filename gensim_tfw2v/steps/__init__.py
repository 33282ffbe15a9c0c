"""A block and tables → changed tables: the maths, and the graph that runs it."""
