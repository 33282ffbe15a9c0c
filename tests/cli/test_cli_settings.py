"""The settings of `tfw2v train` are those of the class, and wrong ones are named."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from gensim.models import Word2Vec
from support.command_line import error_of, train, write_corpus

from gensim_tfw2v import TFDoc2Vec, TFWord2Vec
from gensim_tfw2v.cli import main as cli
from gensim_tfw2v.cli.train_arguments import settings_of


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path)


def test_settings_reach_the_model(corpus: Path, tmp_path: Path) -> None:
    model_flags = [
        "--sg",
        "--hs=1",
        "--negative=2",
        "--window=3",
        "--ns-exponent=-0.5",
        "--no-shrink-windows",
    ]
    other_flags = ["--sample=0", "--seed=7", "--cbow-mean=0", "--alpha=0.05", "--min-alpha=0.001"]
    flags = [*model_flags, *other_flags, "--comment=hello", "--max-final-vocab=9"]
    assert train(corpus, tmp_path / "m", *flags) == 0
    model = TFWord2Vec.load(str(tmp_path / "m"))
    assert (model.sg, model.hs, model.negative, model.window, model.seed) == (1, 1, 2, 3, 7)
    assert (model.ns_exponent, model.shrink_windows, model.sample, model.cbow_mean) == (-0.5, False, 0, 0)
    assert (model.alpha, model.min_alpha, model.comment, model.max_final_vocab) == (0.05, 0.001, "hello", 9)


def test_every_argument_of_the_class_is_a_flag() -> None:
    not_for_a_command_line = {"self", "sentences", "corpus_file", "hashfxn", "trim_rule", "callbacks", "weights"}
    not_for_a_command_line |= {"cache", "checkpoints"}  # groups, whose fields have flags
    expected = {
        name: parameter.default
        for name, parameter in inspect.signature(TFWord2Vec.__init__).parameters.items()
        if name not in not_for_a_command_line
    }
    assert settings_of(cli.parse_arguments(["train", "corpus", "--output", "model"])) == expected


def test_every_gensim_setting_is_a_flag_with_gensims_default() -> None:
    not_for_a_command_line = {"self", "sentences", "corpus_file", "hashfxn", "trim_rule", "callbacks"}
    expected = {
        name: parameter.default
        for name, parameter in inspect.signature(Word2Vec.__init__).parameters.items()
        if name not in not_for_a_command_line
    }
    parsed = vars(cli.parse_arguments(["train", "corpus", "--output", "model"]))
    assert {name: parsed[name] for name in expected} == expected


def test_every_argument_of_the_class_of_documents_is_a_flag() -> None:
    not_for_a_command_line = {"documents", "corpus_file", "hashfxn", "trim_rule", "callbacks", "weights"}
    not_for_a_command_line |= {"dv", "dv_mapfile", "cache", "checkpoints"}
    not_for_a_command_line.add("dm_mean")  # --dm-mean sets cbow_mean
    expected = {
        name: parameter.default
        for name, parameter in inspect.signature(TFDoc2Vec).parameters.items()
        if name not in not_for_a_command_line
    }
    assert settings_of(cli.parse_arguments(["train", "corpus", "--output", "model", "--documents"])) == expected


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--window", "0"),
        ("--vector-size", "many"),
        ("--epochs", "1.5"),
        ("--alpha", "nan"),
        ("--sample", "-1"),
        ("--hs", "2"),
        ("--cache-memory", "lots"),
        ("--cache-dir", "/not/there"),
        ("--tables-dir", "/not/there"),
        ("--format", "onnx"),
        ("--windw", "5"),
        ("--update-bound", "0"),
        ("--cluster-timeout", "0"),
        ("--seed", "99999999999"),
        ("--window", "99999999999"),
    ],
)
def test_a_wrong_setting_is_one_line_that_names_it(
    corpus: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    flag: str,
    value: str,
) -> None:
    monkeypatch.setattr(cli.train, "_train", lambda arguments: pytest.fail("read the corpus"))
    assert train(corpus, tmp_path / "model", flag, value) == 2
    error = error_of(capsys)
    assert flag in error
    assert value in error


def test_nothing_to_train_with_is_refused(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(corpus, tmp_path / "model", "--negative", "0") == 2
    assert "--hs 1" in error_of(capsys)


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("1000", 1000), ("2K", 2048), ("1.5g", 3 * 2**29), ("512MB", 2**29), ("1GiB", 2**30)]
)
def test_sizes_may_have_units(text: str, size: int) -> None:
    parsed = cli.parse_arguments(["train", "corpus", "--output", "model", "--cache-memory", text])
    assert parsed.cache_memory == size
