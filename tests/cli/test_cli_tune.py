"""`tfw2v tune`: what it prints, what it asks of a search, and what it refuses."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from support.command_line import error_of, run, write_corpus
from support.error_table import cases_under

from gensim_tfw2v.cli import main as cli
from gensim_tfw2v.cli.tune import flags_of, value_from
from gensim_tfw2v.search import tune as module
from gensim_tfw2v.search.results import Trial
from gensim_tfw2v.search.search import SearchResult
from gensim_tfw2v.search.space import SETTABLE

TINY = ["--trials", 3, "--epochs", 3, "--rounds", 2, "--workers", 1, "--set", "min_count=1", "--set", "vector_size=8"]


def trial(window: int, value: float | None, epochs: int = 5, **settings: Any) -> Trial:
    return Trial({"window": window, "sg": 0, **settings}, epochs, value, 1.25)


BEST = trial(10, 0.5, 9, shrink_windows=False, ns_exponent=-0.5, sg=1)
DEFAULT = trial(5, 0.25, shrink_windows=True, ns_exponent=0.75)
FAILED = trial(20, None, shrink_windows=True, ns_exponent=0.75)


def emulate(monkeypatch: pytest.MonkeyPatch, ended: str = "complete", *trials: Trial) -> list[dict[str, Any]]:
    """Let searches find these trainings; return the list of what is asked of them."""
    asked: list[dict[str, Any]] = []

    def search(corpus: Path, **arguments: Any) -> SearchResult:
        asked.append(arguments)
        return SearchResult("hits@10", trials or (BEST, DEFAULT, FAILED), DEFAULT, ended)

    monkeypatch.setattr(module, "tune", search)
    return asked


def test_a_table_and_the_command_of_the_best_settings_are_printed(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    emulate(monkeypatch)
    write_corpus(scratch)
    assert run("tune", "corpus.txt") == 0
    assert capsys.readouterr().out.splitlines() == [
        "hits@10  epochs  seconds  window  sg  shrink_windows  ns_exponent",
        " 0.5000       9      1.2      10   1           False         -0.5",
        " 0.2500       5      1.2       5   0            True         0.75  the defaults",
        " failed       5      1.2      20   0            True         0.75",
        "",
        "hits@10 0.5000, the defaults 0.2500; 3 trainings in 3.8 s",
        "tfw2v train corpus.txt --output vectors.kv --window 10 --sg --no-shrink-windows --ns-exponent -0.5 --epochs 9",
    ]


def test_the_command_trains_with_the_best_settings(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    emulate(monkeypatch)
    write_corpus(scratch)
    run("tune", "corpus.txt", "--json")
    found = json.loads(capsys.readouterr().out)
    arguments = vars(cli.parse_arguments(shlex.split(found["command"])[1:]))
    assert {name: arguments[name] for name in BEST.arguments} == BEST.arguments
    assert found["best"] == {"settings": BEST.arguments, "value": 0.5, "seconds": 1.25}
    assert found["default"]["value"] == 0.25
    assert [each["value"] for each in found["trainings"]] == [0.5, 0.25, None]


def test_defaults_that_are_best_are_said_to_be(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    emulate(monkeypatch, "out of budget", DEFAULT, FAILED)
    write_corpus(scratch)
    run("tune", "corpus.txt")
    *_, summary, command = capsys.readouterr().out.splitlines()
    assert summary == "the default settings are the best of 2 trainings in 2.5 s (out of budget)"
    assert command == "tfw2v train corpus.txt --output vectors.kv"


def test_an_interrupted_search_prints_the_best_so_far_and_has_the_exit_code_of_interrupts(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    emulate(monkeypatch, "interrupted")
    write_corpus(scratch)
    assert run("tune", "corpus.txt") == 130
    output = capsys.readouterr()
    assert "3 trainings in 3.8 s (interrupted)\ntfw2v train" in output.out
    assert output.err == "tfw2v: interrupted\n"


def test_values_of_settings_have_the_types_of_the_class(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = emulate(monkeypatch)
    write_corpus(scratch)
    texts = ["window=5,10", "sample=0,1e-4", "sg=1", "shrink-windows=no,yes", "optimizer=adagrad", "max_final_vocab=9"]
    assert run("tune", "corpus.txt", "--budget", 9, *(word for text in texts for word in ("--set", text))) == 0
    (arguments,) = asked
    assert arguments["space"] == {
        "window": [5, 10],
        "sample": [0.0, 0.0001],
        "sg": [1],
        "shrink_windows": [False, True],
        "optimizer": ["adagrad"],
        "max_final_vocab": [9],
    }
    assert (arguments["budget"], arguments["trials"], arguments["validation"]) == (9.0, 27, 0.1)


@pytest.mark.parametrize("name", SETTABLE)
def test_every_setting_has_flags_that_give_its_value(name: str) -> None:
    texts = {"sg": "1", "shrink_windows": "no", "reproducible": "yes", "optimizer": "adagrad", "schedule": "linear"}
    texts |= {"compute_dtype": "float32", "hs": "1", "cbow_mean": "0"}
    value = value_from(name, texts.get(name, "7"))
    train = ["train", "corpus", "--output", "model"]
    assert value != vars(cli.parse_arguments(train))[name]
    assert vars(cli.parse_arguments([*train, *flags_of({name: value})]))[name] == value


REFUSED = cases_under("Commands that search settings")


@pytest.mark.parametrize("command", REFUSED)
def test_what_cannot_be_done_is_one_line(command: str, scratch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_corpus(scratch)
    assert run(*shlex.split(command)[1:]) == 2
    message = error_of(capsys)
    assert [fragment for fragment in REFUSED[command] if fragment not in message] == [], message


def test_a_search_prints_lines_and_keeps_results_that_a_second_one_takes(
    scratch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_corpus(scratch)
    command = ["tune", "corpus.txt", *TINY, "--results", "results", "--metric", "halves", "--validation", "0.3"]
    assert run(*command) == 0
    first = capsys.readouterr()
    lines = first.err.splitlines()
    assert len(lines) == 1 + 3 + 1
    assert lines[-1].startswith("100%")
    written = Path("results").read_bytes()
    assert run(*command, "--quiet") == 0
    second = capsys.readouterr()
    assert second.err == ""
    assert second.out == first.out
    assert Path("results").read_bytes() == written
