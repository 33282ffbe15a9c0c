"""Arguments: their rules, their help and their flags on the command line."""
