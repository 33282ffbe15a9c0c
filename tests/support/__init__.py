"""What several tests need: corpora, models, clusters, references in plain NumPy, and programs that tests start."""
