"""`tfw2v index`, and `tfw2v neighbours --index`: the answers of the model, and errors that name what is wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from gensim.models import Word2Vec
from support.command_line import SENTENCES, error_of, run, save_as

from gensim_tfw2v.files.formats import INDEX_ENGINES

MODULES = {"faiss": "faiss", "usearch": "usearch.index"}


@pytest.fixture(scope="module")
def gensim_model() -> Word2Vec:
    return Word2Vec([line.split() for line in SENTENCES], min_count=1, vector_size=8, workers=1)


@pytest.mark.parametrize("engine", INDEX_ENGINES)
def test_an_index_answers_as_the_model_does(
    engine: str, gensim_model: Word2Vec, scratch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(MODULES[engine], reason=f"needs {engine}, which the extra `test` installs")
    save_as(gensim_model, scratch / "saved.kv", "vectors")
    assert run("index", "saved.kv", "--engine", engine, "--output", "index") == 0
    size = len(gensim_model.wv)
    assert capsys.readouterr().out == f"index: {size} words, {gensim_model.vector_size} dimensions, " + (
        f"recall at 10 1.000 ({size} words)\n"
    )
    words = ["cat", "dog", "--positive", "cat", "dog", "--negative", "mat", "--json"]
    assert run("neighbours", "saved.kv", *words) == 0
    expected = json.loads(capsys.readouterr().out)
    assert run("neighbours", "--index", "index", *words) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == list(expected)
    for title, neighbours in expected.items():
        assert [each["word"] for each in found[title]] == [each["word"] for each in neighbours]
        similarities = [each["similarity"] for each in neighbours]
        assert [each["similarity"] for each in found[title]] == pytest.approx(similarities, abs=1e-5)


@pytest.mark.parametrize("engine", INDEX_ENGINES)
def test_an_unknown_word_is_not_in_the_index_and_an_existing_one_stays(
    engine: str, gensim_model: Word2Vec, scratch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(MODULES[engine], reason=f"needs {engine}, which the extra `test` installs")
    save_as(gensim_model, scratch / "saved.kv", "vectors")
    assert run("index", "saved.kv", "--engine", engine, "--output", "index", "--quiet") == 0
    assert run("neighbours", "--index", "index", "dgo") == 1
    assert error_of(capsys) == "tfw2v: error: word 'dgo' is not in index 'index'; near spellings: 'dog'"
    assert run("index", "saved.kv", "--engine", engine, "--output", "index") == 2
    assert "output 'index' is there already; --force overwrites it" in error_of(capsys)
    assert run("index", "saved.kv", "--engine", engine, "--output", "index", "--force", "--quiet") == 0


@pytest.mark.parametrize("engine", INDEX_ENGINES)
def test_a_missing_engine_is_named_with_its_extra(
    engine: str, scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, MODULES[engine], None)
    assert run("index", "saved.kv", "--engine", engine, "--output", "index") == 2
    assert f"gensim-tfw2v[{engine}]" in error_of(capsys)
