"""The commands of `tfw2v`, one module each: its arguments, and what it does with them."""
