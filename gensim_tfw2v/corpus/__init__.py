"""Text and iterables of sentences → chunks of word ids. Reading processes import this, so nothing else is here."""
