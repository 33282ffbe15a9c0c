"""Plans of words with n-grams, and of documents, have the bytes of real models, and no times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.test.utils import datapath
from support.command_line import error_of, run

from gensim_tfw2v import TFDoc2Vec, TFFastText, plan
from gensim_tfw2v.model.subwords import ngrams_of

CORPUS = datapath("lee_background.cor")
MACHINE: dict[str, Any] = {"cores": 2, "memory": "4GB", "profile": "avx2"}
SIZES: dict[str, Any] = {"words": 1e7, "vocabulary": 1e5, **MACHINE}


def untrained(cls: Any, **settings: Any) -> Any:
    model = cls(min_count=3, **settings)
    model.build_vocab(corpus_file=CORPUS)
    return model


def without_total(report: dict[str, int]) -> dict[str, int]:
    return {name: value for name, value in report.items() if name != "total"}


@pytest.mark.parametrize(
    "ngrams", [{}, {"min_n": 1, "max_n": 3, "bucket": 700}, {"bucket": 0}, {"min_n": 5, "max_n": 4}]
)
@pytest.mark.parametrize("mode", ["sg-neg", "cbow-hs"])
def test_words_with_ngrams_have_the_bytes_of_gensims_estimate(ngrams: dict[str, int], mode: str) -> None:
    ngrams = {"bucket": 5000} | ngrams
    found = plan(CORPUS, min_count=3, mode=mode, subwords=True, **ngrams, **MACHINE).as_dict()
    model = untrained(TFFastText, **ngrams, **({"hs": 1, "negative": 0} if mode == "cbow-hs" else {}))
    expected = without_total(model.estimate_memory()) | {"vectors": found["model"]["vectors"]}
    assert found["vocabulary"] == len(model.wv)
    assert found["model"] == pytest.approx(expected)
    if ngrams["bucket"]:
        lengths = np.array([len(buckets) for buckets in model.wv.buckets_word])
        counts = np.array([model.wv.get_vecattr(word, "count") for word in model.wv.index_to_key])
        assert found["ngrams_of_a_word"] == pytest.approx(lengths.mean())
        assert found["rows_a_word"] == pytest.approx(1 + np.average(lengths, weights=counts))
        assert len(ngrams_of(model.wv).used) <= found["further_rows"] <= ngrams["bucket"]


@pytest.mark.parametrize("mode", ["sg-neg", "cbow-hs"])
def test_documents_have_the_bytes_of_gensims_estimate(mode: str) -> None:
    found = plan(CORPUS, min_count=3, mode=mode, documents=300, **MACHINE).as_dict()
    model = untrained(TFDoc2Vec, **({"hs": 1, "negative": 0} if mode == "cbow-hs" else {}))
    assert len(model.dv) == 300
    assert found["model"] == without_total(model.estimate_memory())
    assert found["further_rows"] == found["documents"] == 300


def test_memory_grows_by_all_that_the_further_rows_need() -> None:
    words = plan(**SIZES).as_dict()["memory"]["process"]
    few, many = (plan(**SIZES, subwords=True, bucket=bucket).as_dict() for bucket in (10**6, 2 * 10**6))
    assert few["memory"]["process"] > words + 10**6 * 400
    assert many["memory"]["process"] - few["memory"]["process"] >= 10**6 * 400
    documents = plan(**SIZES, documents=10**6).as_dict()
    assert documents["memory"]["process"] == words + 10**6 * (200 + 2 * 400)


@pytest.mark.parametrize("asked", [{"subwords": True}, {"documents": 1e5}], ids=lambda asked: next(iter(asked)))
def test_times_are_not_planned(asked: dict[str, Any]) -> None:
    found = plan(**SIZES, **asked)
    assert [found.as_dict()[name] for name in ("words_a_second", "seconds", "cost")] == [None, None, None]
    assert "time is not planned, because" in str(found)
    assert "not planned" in str(found)


def test_a_model_that_does_not_fit_is_a_warning() -> None:
    found = plan(**SIZES | {"memory": "2GB"}, subwords=True).as_dict()
    assert not found["fits"]
    assert "the process needs" in found["warnings"][0]
    assert "warning: the process needs" in str(plan(**SIZES | {"memory": "2GB"}, subwords=True))
    assert plan(**SIZES | {"memory": "64GB"}, subwords=True).as_dict()["fits"]


@pytest.mark.parametrize(
    ("asked", "flags"),
    [
        ({"subwords": True, "bucket": 9, "mode": "sg-neg"}, "--sg --subwords --bucket 9 --workers 2"),
        ({"documents": 1e5}, "--documents --epochs 5 --workers 2"),
        (
            {"documents": 1e5, "mode": "sg-hs", "epochs": 10},
            "--dm 0 --hs 1 --negative 0 --epochs 10 --documents --workers 2",
        ),
    ],
)
def test_the_command_trains_what_was_planned(asked: dict[str, Any], flags: str, tmp_path: Path) -> None:
    (command,) = plan(**SIZES, **asked).as_dict()["commands"]
    assert command == f"tfw2v train corpus.txt --output trained.model {flags}"


def test_the_command_prints_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    machine = ["--cores", 2, "--memory", "4GB", "--profile", "avx2"]
    assert run("plan", "--corpus", CORPUS, "--subwords", "--bucket", "5000", *machine) == 0
    assert capsys.readouterr().out.rstrip("\n") == str(plan(CORPUS, subwords=True, bucket=5000, **MACHINE))
    assert run("plan", "--words", "1e7", "--vocabulary", "1e5", "--documents", "1e5", *machine, "--json") == 0
    assert json.loads(capsys.readouterr().out) == plan(**SIZES, documents=1e5).as_dict()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--bucket", "7"], "--bucket 7 is for --subwords; leave it out"),
        (["--subwords", "--documents", "7"], "--subwords does not go with --documents; leave one of them out"),
        (["--documents", "7", "--workers", "2"], "--workers 2 does not go with --documents, planned for one process"),
        (["--subwords", "--hours", "2"], "--hours 2.0 does not go with --subwords, planned for one process"),
    ],
)
def test_flags_that_do_not_go_together_are_refused(
    flags: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("plan", "--words", "1e7", "--vocabulary", "1e5", *flags) == 2
    assert message in error_of(capsys)
