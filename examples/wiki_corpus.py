"""Writes the Wikipedia articles in gensim's package as a corpus: `python examples/wiki_corpus.py wiki.txt`."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from gensim.corpora.wikicorpus import extract_pages, filter_wiki
from gensim.test.utils import datapath
from gensim.utils import open as open_file
from gensim.utils import simple_preprocess

DUMP = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+|\n+")


def main() -> None:
    """Write one sentence a line, of lower-case words."""
    parser = argparse.ArgumentParser(description="Write 107 articles of Wikipedia as sentences, one a line.")
    parser.add_argument("corpus", type=Path, help="text file to write")
    path = parser.parse_args().corpus
    with open_file(datapath(DUMP), "rb") as dump, path.open("w", encoding="utf8") as corpus:
        for _, text, _ in extract_pages(dump, filter_namespaces=("0",)):
            if text.lower().startswith("#redirect"):
                continue
            for sentence in _SENTENCE_ENDS.split(filter_wiki(text)):
                words = simple_preprocess(sentence)
                if len(words) > 2:
                    corpus.write(" ".join(words) + "\n")


if __name__ == "__main__":
    main()
