"""An encoded corpus made of sections of its text, which several processes or machines encode side by side."""
