"""The placement with tables on parameter servers and steps on workers."""
