"""Text, tables and iterables → chunks of word ids. Reading processes import this file, so it has no imports."""
