"""The placement in which every worker has the tables, and workers average their rows."""
