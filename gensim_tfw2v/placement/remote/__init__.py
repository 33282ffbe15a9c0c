"""Tables of rows on any task of a cluster: made there, filled, read and freed, and the leases on them."""
