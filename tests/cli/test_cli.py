"""The command line as a whole: help, errors of one line, and how it is started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from gensim.models import Word2Vec
from support.command_line import SENTENCES, error_of, run, save_as

from gensim_tfw2v.cli import main as cli


@pytest.fixture(scope="module")
def gensim_model() -> Word2Vec:
    return Word2Vec([line.split() for line in SENTENCES], min_count=1, vector_size=8, workers=1)


def test_no_command_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 2
    assert "COMMAND" in error_of(capsys)


def test_an_unknown_flag_names_the_help_of_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("evaluate", "model.kv", "--pears", "words.tsv") == 2
    assert "unknown arguments: --pears words.tsv (see tfw2v evaluate --help)" in error_of(capsys)


def test_debug_shows_where_an_error_came_from(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="nowhere"):
        run("evaluate", tmp_path / "nowhere", "--debug")


def test_help_and_version_need_neither_gensim_nor_tensorflow() -> None:
    code = """
import sys
from gensim_tfw2v.cli import main as cli
commands = ["train", "encode", "evaluate", "neighbours", "server", "cluster", "merge", "walks", "export"]
commands += ["tune", "index"]
for arguments in ["--help"], *([command, "--help"] for command in commands), ["--version"]:
    try:
        cli.main(arguments)
    except SystemExit as exit:
        assert exit.code == 0
heavy = {"gensim", "tensorflow", "numpy", "scipy"} & set(sys.modules)
sys.exit(f"imported {heavy}" if heavy else 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "command", ["train", "evaluate", "neighbours", "server", "cluster", "merge", "walks", "export", "tune", "index"]
)
def test_help_names_the_default_of_every_flag_that_has_one(command: str) -> None:
    (commands,) = [action for action in cli.build_parser()._actions if isinstance(action.choices, dict)]
    without_default = {"help", "output", "pairs", "analogies", "positive", "negative", "engine"} - (
        {"negative"} if command == "train" else set()
    )
    for action in commands.choices[command]._actions:
        if action.option_strings and action.dest not in without_default:
            assert "default" in action.help, action.dest


def test_the_package_runs_as_a_module(gensim_model: Word2Vec, tmp_path: Path) -> None:
    path = save_as(gensim_model, tmp_path / "saved", "model")
    command = [sys.executable, "-m", "gensim_tfw2v", "neighbours", str(path), "unicorn"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("tfw2v: error: word 'unicorn'")


def test_a_reader_that_goes_away_causes_no_stack_trace(gensim_model: Word2Vec, tmp_path: Path) -> None:
    path = save_as(gensim_model, tmp_path / "saved", "model")
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "gensim_tfw2v", "neighbours", str(path), "cat"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert done.stderr == ""
