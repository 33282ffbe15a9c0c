"""Batch L-BFGS: one objective over the whole corpus, whose gradient workers sum up portion by portion."""
