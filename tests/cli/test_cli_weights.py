"""`tfw2v train --weights`: what is read, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from support.command_line import error_of, run
from support.contract import SENTENCES

from gensim_tfw2v import TFWord2Vec, encode_corpus

FLAGS = ["--vector-size", "8", "--min-count", "1", "--workers", "1", "--sample", "0", "--epochs", "2"]
WEIGHTS = [0.5, 2, 1, 1.25, 0] * 30


@pytest.fixture(autouse=True)
def corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a corpus and weights to the working directory."""
    monkeypatch.chdir(tmp_path)
    Path("corpus.txt").write_text("".join(" ".join(line) + "\n" for line in SENTENCES), encoding="utf8")
    Path("weights.txt").write_text("".join(f"{weight}\n" for weight in WEIGHTS))
    Path("folder").mkdir()
    Path("folder/part.txt").write_bytes(Path("corpus.txt").read_bytes())


@pytest.mark.parametrize("corpus", ["corpus.txt", "folder"])
def test_a_command_trains_with_the_weights_of_a_file(corpus: str) -> None:
    assert run("train", corpus, "--output", "m.kv", *FLAGS, "--weights", "weights.txt", "--quiet") == 0
    settings = {"vector_size": 8, "min_count": 1, "workers": 1, "sample": 0, "epochs": 2}
    source = {"corpus_file": corpus} if corpus == "corpus.txt" else {"sentences": SENTENCES}
    expected = TFWord2Vec(**source, **settings, weights=WEIGHTS)
    np.testing.assert_array_equal(KeyedVectors.load("m.kv").vectors, expected.wv.vectors)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("1\n2\nheavy\n", "--weights 'w.txt': line 3 is 'heavy', and not a number"),
        ("1\n\n2\n", "--weights 'w.txt': line 2 is '', and not a number"),
        ("1\n-2\n", "--weights 'w.txt': weights must be finite and at least 0, and number 1 (from 0) is -2.0"),
        ("inf\n", "number 0 (from 0) is inf"),
        (None, "--weights 'w.txt' cannot be read: No such file"),
    ],
)
def test_a_file_that_holds_no_weights_is_refused(
    content: str | None, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        Path("w.txt").write_text(content)
    assert run("train", "corpus.txt", "--output", "m.kv", "--weights", "w.txt") == 2
    assert reason in error_of(capsys)


def test_weights_do_not_go_with_an_encoded_corpus_or_columns(capsys: pytest.CaptureFixture[str]) -> None:
    encode_corpus("corpus.txt", "corpus.ids")
    command = ["--output", "m.kv", "--weights", "weights.txt"]
    assert run("train", "corpus.ids", *command) == 2
    assert "'corpus.ids' is an encoded corpus" in error_of(capsys)
    assert run("train", "corpus.txt", *command, "--distribution", "columns", "--sg") == 2
    assert "cannot train with weights" in error_of(capsys)
