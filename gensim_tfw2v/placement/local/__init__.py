"""The placement with tables and steps in this process."""
