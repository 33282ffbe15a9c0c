"""Vectors of sub-models that trained apart → one matrix of vectors."""

METHODS = ("alir", "pca", "concatenate", "average")  # here for command lines, which import no NumPy for their help
