"""The benchmark of tables: every source holds the same sentences, its table, and a small run of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tables
from measuring import table_sources
from measuring.table_sources import LISTS, TEXT, TEXT_ROWS, missing_packages, sources_in
from support.benchmark_commands import corpus_in, run_command

from gensim_tfw2v.corpus.sentence_parts import TableSentences, column_of


def test_rows_of_the_table_have_ratios_to_the_text_of_the_same_round() -> None:
    speeds = {("sg-neg", TEXT): [100.0, 200.0], ("sg-neg", "Polars"): [90.0, 190.0], ("cbow-neg", "Polars"): [5.0]}
    runs: list[dict[str, Any]] = [
        {"round": turn, "mode": mode, "source": source, "words_per_second": speed}
        for (mode, source), of_rounds in speeds.items()
        for turn, speed in enumerate(of_rounds)
    ]
    assert tables.table_of(runs)[1:] == [
        ["sg-neg", TEXT, "2", "150 (100 to 200)", "1.00 (1.00 to 1.00)"],
        ["sg-neg", "Polars", "2", "140 (90 to 190)", "0.93 (0.90 to 0.95)"],
        ["cbow-neg", "Polars", "1", "5 (5 to 5)", "-"],
    ]


def test_sources_train_in_the_opposite_order_in_every_other_round() -> None:
    assert list(tables.in_turns(2, ["sg-neg"], ["a", "b"])) == [
        (0, "sg-neg", "a"),
        (0, "sg-neg", "b"),
        (1, "sg-neg", "b"),
        (1, "sg-neg", "a"),
    ]


@pytest.mark.parametrize("rows", [TEXT_ROWS, LISTS])
def test_each_source_holds_the_sentences_of_the_text(rows: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="needs pyarrow, which the extra `test` installs")
    corpus = corpus_in(tmp_path)
    expected = [line.split() for line in corpus.read_text().splitlines()]
    here = [source for source, missing in missing_packages().items() if not missing and source != TEXT]
    for source, arguments in sources_in(corpus, here, rows).items():
        if source == TEXT:
            assert arguments == {"corpus_file": str(corpus)}
        elif "corpus_file" in arguments:
            assert list(TableSentences(arguments["corpus_file"])) == expected
        else:
            column = column_of(arguments["sentences"])
            assert column is not None
            assert list(column) == expected


@pytest.mark.slow
def test_a_small_run_measures_each_source(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="needs pyarrow, which the extra `test` installs")
    options = ["--sources", "Parquet file", "pyarrow", "--modes", "sg-neg", "--repeats", "1", "--vector-size", "8"]
    done = run_command("tables.py", corpus_in(tmp_path), *options, "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    runs = json.loads((tmp_path / "tables.json").read_text())["runs"]
    assert [run["source"] for run in runs] == [TEXT, "Parquet file", "pyarrow"]
    assert all(run["words_per_second"] > 0 for run in runs)


def test_a_library_whose_columns_have_no_arrow_interface_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow", reason="needs pyarrow, which the extra `test` installs")
    monkeypatch.setitem(table_sources._MAKERS, "pandas", lambda table, corpus: {"sentences": ["a b"]})
    with pytest.raises(RuntimeError, match="columns of pandas have no Arrow interface"):
        sources_in(corpus_in(tmp_path), ["pandas"])
