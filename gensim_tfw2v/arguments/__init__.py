"""What an argument is: its rule, its help and its flag on the command line."""
