"""`plan()` gives in Python what `tfw2v plan` prints, and refuses what cannot be planned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.command_line import run, write_corpus

from gensim_tfw2v import plan

SIZES: dict[str, Any] = {"words": 1e9, "vocabulary": 1e5, "cores": 8, "memory": "64GB", "profile": "avx2"}
WISHES: list[dict[str, Any]] = [
    {},
    {"workers": 4, "ps": 2, "distribution": "averaging", "network": "1Gbit", "price_per_hour": 2, "epochs": 3},
    {"mode": "sg-hs", "one_machine": True, "batch_words": 50_000, "hours": 0.5, "vector_size": 300},
]


def flags_of(arguments: dict[str, Any]) -> list[Any]:
    flags: list[Any] = []
    for name, value in arguments.items():
        flags += [f"--{name.replace('_', '-')}", *([] if value is True else [value])]
    return flags


@pytest.mark.parametrize("wish", WISHES, ids=lambda wish: " ".join(wish) or "sizes alone")
def test_a_plan_is_that_of_the_command(wish: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    found, flags = plan(**SIZES, **wish), flags_of(SIZES | wish)
    assert run("plan", *flags, "--json") == 0
    assert found.as_dict() == json.loads(capsys.readouterr().out)
    assert run("plan", *flags) == 0
    assert str(found) == capsys.readouterr().out.rstrip("\n")


def test_a_corpus_is_sampled_as_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_corpus(tmp_path)
    corpus = tmp_path / "corpus.txt"
    found = plan(corpus, min_count=2, profile="amx")
    assert run("plan", "--corpus", corpus, "--min-count", 2, "--profile", "amx", "--json") == 0
    assert found.as_dict() == json.loads(capsys.readouterr().out)


def test_a_plan_counts_the_negatives_of_the_optimizer_that_trains_text() -> None:
    adagrad, sgd = (
        plan(words=1e9, vocabulary=1e6, mode="sg-neg", cores=8, memory="64GB", epochs=epochs).as_dict()
        for epochs in (19, 20)
    )
    assert adagrad["words_a_second"] < 0.95 * sgd["words_a_second"]


def test_amounts_are_numbers_or_texts_with_units() -> None:
    texts = plan(**SIZES | {"memory": "64GB"}, network="10Gbit", workers=2)
    numbers = plan(**SIZES | {"memory": 64e9}, network=1e10, workers=2)
    assert texts.as_dict() == numbers.as_dict()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "nothing to plan: give a corpus, or words and vocabulary"),
        ({"words": 1e9}, "words 1000000000 needs vocabulary, or a corpus"),
        ({"words": 1.5, "vocabulary": 1}, "words must be a whole number of at least 1, got 1.5"),
        ({"words": 1e3, "vocabulary": 1e8}, "vocabulary 100000000 is impossible"),
        ({"corpus": "corpus.txt", "vocabulary": 10}, "vocabulary 10 does not go with corpus"),
        ({**SIZES, "memory": "64Gbit"}, "memory: '64Gbit' is not a size in bytes"),
        ({**SIZES, "memory": 0}, "memory must be a finite number above 0, got 0"),
        ({**SIZES, "network": "10GB"}, "network: '10GB' is not a rate"),
        ({**SIZES, "mode": "sg"}, "mode must be 'sg-neg' or 'cbow-neg' or 'sg-hs' or 'cbow-hs', got 'sg'"),
        ({**SIZES, "distribution": "lbfgs"}, "distribution must be 'downpour' or 'averaging', got 'lbfgs'"),
        ({**SIZES, "workers": 0}, "workers must be a whole number of at least 1, got 0"),
        ({**SIZES, "profile": "arm"}, "there is no profile 'arm'"),
    ],
)
def test_what_cannot_be_planned_is_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        plan(**arguments)
