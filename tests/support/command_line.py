"""What the tests of the command line share: running it in this process, and reading its one line of error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from gensim.models import Word2Vec

from gensim_tfw2v.cli import main as cli

SENTENCES = ["the cat sat on the mat", "the dog sat on the log", "a cat and a dog met on a mat"] * 20
SMALL = ["--min-count", "1", "--vector-size", "8", "--epochs", "1", "--workers", "1"]


def write_corpus(folder: Path) -> Path:
    """A small text file in `folder`."""
    path = folder / "corpus.txt"
    path.write_text("\n".join(SENTENCES) + "\n")
    return path


def run(*arguments: Any) -> int:
    return cli.main([str(argument) for argument in arguments])


def train(corpus: Path, output: Path, *arguments: Any) -> int:
    return run("train", corpus, "--output", output, *SMALL, *arguments)


def error_of(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on stderr, which is all there is."""
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("tfw2v: error: ")
    return lines[0]


def save_as(model: Word2Vec, path: Path, kind: str) -> Path:
    if kind == "model":
        model.save(str(path))
    elif kind == "vectors":
        model.wv.save(str(path))
    else:
        model.wv.save_word2vec_format(str(path), binary=kind == "binary", write_header=kind != "headless")
    return path
