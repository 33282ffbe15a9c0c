"""Tasks of a TensorFlow cluster: their addresses, processes, connection, health and leases."""
