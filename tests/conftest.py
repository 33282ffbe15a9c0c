"""Fixtures that run a test on gensim's own class and on ours: a wrong expectation fails on gensim too."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from contract import MODES, PURE_MODES
from gensim.models import Word2Vec
from gensim.test.utils import datapath

if TYPE_CHECKING:
    from clustered import Clustered

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


@pytest.fixture
def tfword2vec_class() -> type[Any]:
    """Return our class; for behaviour that gensim does not have."""
    import gensim_tfw2v

    our_class: type[Any] = gensim_tfw2v.TFWord2Vec
    return our_class


@pytest.fixture(params=["gensim", "tfword2vec"])
def word2vec_class(request: pytest.FixtureRequest) -> type[Any]:
    """Return gensim's class, then ours."""
    chosen: type[Any] = Word2Vec if request.param == "gensim" else request.getfixturevalue("tfword2vec_class")
    return chosen


@pytest.fixture(params=list(MODES))
def mode(request: pytest.FixtureRequest) -> dict[str, int]:
    """Return the arguments of each model and training method, and of both methods at once."""
    return MODES[request.param]


@pytest.fixture(params=list(PURE_MODES))
def pure_mode(request: pytest.FixtureRequest) -> dict[str, int]:
    """Return the arguments of each model with either one of the two training methods."""
    return PURE_MODES[request.param]


@pytest.fixture(scope="session")
def lee_file() -> Path:
    """Return the path of the Lee background corpus that gensim's wheel holds (300 articles, 60,000 words)."""
    return Path(datapath("lee_background.cor"))


@pytest.fixture(scope="session")
def lee(lee_file: Path) -> list[list[str]]:
    """Return the Lee background corpus, lower-cased, as lists of words without punctuation."""
    from gensim.utils import simple_preprocess

    return [simple_preprocess(line) for line in lee_file.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make an empty folder the working directory and Python's folder for temporary files; return it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path


@pytest.fixture(scope="session")
def clustered(tmp_path_factory: pytest.TempPathFactory, lee: list[list[str]]) -> Clustered:
    """Return a model that has been trained over two servers and two workers, with its log."""
    from clustered import train_on_cluster  # which loads TensorFlow, as most tests need not

    return train_on_cluster(tmp_path_factory.mktemp("clustered") / "logs" / "cluster", lee)
