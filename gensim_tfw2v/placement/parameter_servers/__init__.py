"""Tables on parameter servers, steps on workers."""
