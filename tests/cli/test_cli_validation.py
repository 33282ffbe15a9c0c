"""`tfw2v train --validation --early-stopping`: what is read, printed and refused."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from support.command_line import error_of, run
from support.overfitting import EPOCHS, OTHERS, SETTINGS, TRAINED

from gensim_tfw2v import EarlyStopping, TFWord2Vec

FLAGS = [
    *("--sg", "--vector-size", "16", "--min-count", "1", "--workers", "1", "--sample", "0", "--epochs", str(EPOCHS)),
    *("--alpha", "0.1", "--min-alpha", "0.1"),
]


@pytest.fixture
def corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the corpora of these tests to the working directory."""
    monkeypatch.chdir(tmp_path)
    for name, lines in (("corpus.txt", TRAINED), ("others.txt", OTHERS)):
        Path(name).write_text("".join(" ".join(line) + "\n" for line in lines), encoding="utf8")
    Path("folder").mkdir()
    Path("folder/part.txt").write_bytes(Path("others.txt").read_bytes())
    return tmp_path


@pytest.mark.parametrize("validation", ["others.txt", "folder"])
def test_a_command_ends_early_and_writes_the_best_vectors(
    validation: str, corpora: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["train", "corpus.txt", "--output", "best.kv", *FLAGS]
    assert run(*command, "--validation", validation, "--early-stopping", "2,0.001") == 0
    printed = capsys.readouterr().out
    expected = TFWord2Vec(TRAINED, validation=OTHERS, early_stopping=EarlyStopping(2, 0.001), **SETTINGS)
    losses = expected.validation_losses
    best = len(losses) - 2
    pattern = r"^validation  loss (.*) after epoch (.*), whose vectors are written; loss (.*) after"
    line = re.search(pattern, printed, re.M)
    assert line is not None
    assert line.groups() == (f"{losses[best - 1]:.4f}", str(best), f"{losses[-1]:.4f}")
    assert f"{len(losses)} epochs" in printed
    np.testing.assert_allclose(KeyedVectors.load("best.kv").vectors, expected.wv.vectors, rtol=1e-6)


def test_a_share_is_held_out(corpora: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("train", "corpus.txt", "--output", "m.kv", *FLAGS, "--epochs", "2", "--validation", "0.5") == 0
    printed = capsys.readouterr().out
    assert re.search(r"^validation  loss \d\.\d{4} after the last epoch$", printed, re.M)
    words = int(re.search(r"trained on  ([\d,]+) words", printed)[1].replace(",", ""))  # type: ignore[index]
    assert 0.3 * 1200 < words < 0.7 * 1200


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--validation", "1.5"], "'1.5' is no share above 0 and below 1, nor the name of a corpus"),
        (["--validation", "0"], "'0' is no share"),
        (["--validation", "missing.txt"], "corpus 'missing.txt' is not there"),
        (["--validation", "0.1", "--early-stopping", "0"], "'0' is not a whole number of 1 or more"),
        (["--validation", "0.1", "--early-stopping", "2,x"], "'x' is not a number"),
        (["--early-stopping", "2"], "validation is None"),
        (["--validation-every", "100"], "validation is None"),
        (["--validation", "0.1", "--validation-every", "0.5"], "'0.5' is not a whole number of words"),
        (["--validation", "0.1", "--validation-metric", "hits@10", "--negative", "0", "--hs", "1"], "negative is 0"),
    ],
)
def test_wrong_flags_are_one_line(
    flags: list[str], reason: str, corpora: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("train", "corpus.txt", "--output", "m.kv", *FLAGS, *flags) == 2
    assert reason in error_of(capsys)
