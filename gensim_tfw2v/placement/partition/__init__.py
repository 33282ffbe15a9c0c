"""Sub-models that train apart, each on its own draw of the sentences, and are merged when their tables are read."""
