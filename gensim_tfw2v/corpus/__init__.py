"""Text, tables and iterables of sentences → chunks of word ids. Reading processes import this file, so it has no imports."""
