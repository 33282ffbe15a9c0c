"""Tables cut by columns: every server has some numbers of each vector, and servers and workers exchange products."""
