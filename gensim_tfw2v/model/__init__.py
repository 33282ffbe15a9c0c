"""From gensim's arguments to a training."""
