"""`python -m gensim_tfw2v` is the command `tfw2v`."""

from __future__ import annotations

import sys

from gensim_tfw2v.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
