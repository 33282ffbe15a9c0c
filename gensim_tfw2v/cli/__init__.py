"""The command line `tfw2v`."""
