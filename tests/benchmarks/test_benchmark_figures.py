"""The arithmetic behind the results of benchmarks/ is right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import columns
import numpy as np
import profile_step
import pytest
from gensim.models import KeyedVectors
from measuring import corpora, runner
from measuring.agreement import Likeness, agreement, likeness_of
from measuring.block_times import BlockTimes, timed_blocks
from measuring.checkout import find_in_package
from measuring.jobs import DTYPES, OPTIMIZERS, SCHEDULES, Job
from report import machine, summaries
from report.reports import failure_tables, markdown_table

from gensim_tfw2v.blocks.chunk_task import NOTHING_TRAINED
from gensim_tfw2v.model import own_arguments
from gensim_tfw2v.placement.local.placement import LocalPlacement


def run_record(system: str, turn: int, speed: float, **others: Any) -> dict[str, Any]:
    """Return a made-up record of a run."""
    return {
        "system": system,
        "mode": "sg-neg",
        "round": turn,
        "words_per_second": speed,
        "started_words_per_second": speed,
        "train_seconds": 100 / speed,
        "build_vocab_seconds": 10 / speed,
        "peak_rss_bytes": 1000,
        "tensorflow_import_seconds": None,
        "first_graph_seconds": None,
        "pairs_per_word": None,
        "bytes_per_word": None,
        "loopback_bytes_per_word": None,
        "scores": {"mean": speed},
        "finite": True,
        **others,
    }


def test_host_time_of_a_function_is_without_other_functions_of_the_package() -> None:
    outer, inner, numpys = ("/p/a.py", 1, "outer"), ("/p/b.py", 1, "inner"), ("numpy", 1, "sort")
    stats = {
        outer: (1, 1, 1.0, 10.0, {}),
        inner: (1, 1, 1.0, 6.0, {outer: (1, 1, 1.0, 6.0)}),
        numpys: (1, 1, 5.0, 5.0, {inner: (1, 1, 5.0, 5.0)}),
    }
    assert profile_step.own_seconds(stats, package="/p") == {"a.outer": 4.0, "b.inner": 6.0}


def test_a_model_agrees_with_itself_and_with_nothing_that_is_turned_round() -> None:
    vectors = KeyedVectors(3)
    vectors.add_vectors([f"w{i}" for i in range(50)], np.random.default_rng(1).normal(size=(50, 3)))
    own = likeness_of(vectors)
    assert agreement([(own, own)]) == (pytest.approx(1), 1)
    other = Likeness(-own.similarities, [set() for _ in own.neighbours])
    assert agreement([(own, other), (other, own)]) == (pytest.approx(-1), 0)


def test_the_commands_offer_the_choices_of_the_class() -> None:
    of_class = own_arguments.SCHEDULES, own_arguments.DTYPES, own_arguments.OPTIMIZERS
    assert of_class == (SCHEDULES, DTYPES, OPTIMIZERS)


def test_every_other_round_goes_backwards() -> None:
    jobs = [Job("tfw2v", "c"), Job("gensim", "c")]
    assert [job.system for _, job in runner.in_turns(jobs, 3)] == [
        "tfw2v", "gensim", "gensim", "tfw2v", "tfw2v", "gensim",
    ]  # fmt: skip


def test_a_ratio_is_of_medians_and_its_spread_of_pairs() -> None:
    ratio = summaries.paired_ratio({0: 10.0, 1: 40.0, 2: 30.0}, {0: 5.0, 1: 10.0, 2: 20.0})
    assert ratio == summaries.Spread(middle=3.0, low=1.5, high=4.0)


def test_a_ratio_without_a_common_round_is_unknown() -> None:
    assert summaries.paired_ratio({0: 1.0}, {1: 1.0}) is None


def test_a_spread_is_median_least_and_largest() -> None:
    assert summaries.spread([3.0, None, 1.0, 10.0]) == summaries.Spread(3.0, 1.0, 10.0)
    assert summaries.spread([None]) is None


def test_a_score_is_mean_and_sample_standard_deviation() -> None:
    assert summaries.mean_and_sd([1.0, 3.0]) == summaries.MeanSd(2.0, pytest.approx(2**0.5))
    assert summaries.mean_and_sd([4.0]) == summaries.MeanSd(4.0, None)
    assert summaries.mean_and_sd([1.0, None]) is None


def test_speed_and_vocabulary_ratios_both_say_how_many_times_as_fast() -> None:
    runs = [run_record("tfw2v", 0, 40.0), run_record("gensim", 0, 10.0)]
    ours, gensims = summaries.rows_by(("mode", "system"), runs, ("mode",), {"system": "gensim"})
    assert ours.speed_ratio == ours.build_vocab_ratio == summaries.Spread(4.0, 4.0, 4.0)
    assert gensims.speed_ratio == summaries.Spread(1.0, 1.0, 1.0)


def test_one_run_that_is_not_finite_makes_its_row_not_finite() -> None:
    runs = [run_record("tfw2v", 0, 1.0), run_record("tfw2v", 1, 1.0, finite=False)]
    (row,) = summaries.rows_by(("system",), runs, (), {"system": "gensim"})
    assert not row.finite
    assert row.speed_ratio is None


def test_failed_runs_count_in_no_row() -> None:
    runs = [run_record("gensim", 0, 1.0), {"system": "gensim", "round": 1, "error": "no memory"}]
    assert [row.runs for row in summaries.rows_by(("system",), runs, (), {"system": "gensim"})] == [1]


def test_failed_runs_have_a_table_of_their_own() -> None:
    failed = {"vector_size": 100, "error": "no\nmemory | disk"}
    expected = {"Failed runs": [["vector size", "error"], ["100", "no / memory \\| disk"]]}
    assert failure_tables([run_record("gensim", 0, 1.0), failed], ["vector_size"]) == expected
    assert failure_tables([run_record("gensim", 0, 1.0)]) == {}


def test_the_first_graph_is_what_the_first_block_took_more_than_the_others() -> None:
    times = BlockTimes()
    times.seconds = [3.0]
    assert times.first_graph_seconds() is None
    times.seconds = [3.0, 1.0, 0.5, 2.0]
    assert times.first_graph_seconds() == 2.0


def test_blocks_are_timed_until_the_statement_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    trained = replace(NOTHING_TRAINED, pairs=np.array([2.0, 3.0]))
    monkeypatch.setattr(LocalPlacement, "train_chunk", lambda self, task: trained)
    placement, times = object.__new__(LocalPlacement), BlockTimes()
    with timed_blocks("LocalPlacement", times):
        assert placement.train_chunk(None) is trained
    placement.train_chunk(None)
    assert (len(times.seconds), times.pairs) == (1, 5)


def test_a_name_is_taken_from_the_first_module_that_the_package_has() -> None:
    assert find_in_package("LocalPlacement", ("no_such.module", "placement.local.placement")) is LocalPlacement
    with pytest.raises(ModuleNotFoundError, match=r"none of the modules no_such, placement\.no_such"):
        find_in_package("LocalPlacement", ("no_such", "placement.no_such"))


def test_only_a_busy_machine_is_warned_about() -> None:
    assert machine.warnings_about_load(0.5) == []
    assert "1.25" in machine.warnings_about_load(1.25)[0]


def test_a_markdown_table_has_columns_of_equal_width() -> None:
    assert markdown_table([["a", "bcd"], ["ef", "g"]]).splitlines() == ["| a  | bcd |", "|----|-----|", "| ef | g   |"]


def test_a_zipf_corpus_has_every_word_and_frequent_ones_as_often_as_the_law_says(tmp_path: Path) -> None:
    corpora.write_zipf_corpus(1000, 20_000, 1, tmp_path / "zipf.txt")
    words, counts = np.unique((tmp_path / "zipf.txt").read_text().split(), return_counts=True)
    found = dict(zip(words.tolist(), counts.tolist(), strict=True))
    assert len(found) == 1000
    assert [found["w0"] / found[f"w{rank}"] for rank in (1, 9)] == pytest.approx([2, 10], rel=0.01)
    assert found["w999"] == round(found["w0"] / 1000)


def test_bytes_of_columns_are_those_of_the_workers_beside_the_formula() -> None:
    report = {"bytes": 8000, "trained_words": 60, "tasks": {"worker 0": {"messages": 2}, "ps 0": {"messages": 50}}}
    bytes_of = {"ps0": 10**6, "coordinator": 10**6, "worker0": 5080}
    run = {
        "corpus": "zipf",
        "rate": "unlimited",
        "design": "columns",
        "vocabulary": 100,
        "raw_words": 100,
        "losses": [3.0],
        "report": report,
    }
    run |= {"train_seconds": 2.0, "sent_bytes": bytes_of, "received_bytes": bytes_of}
    (heading, cells) = columns.table_of([run])
    row = dict(zip(heading, cells, strict=True))
    assert row["bytes a word"] == "101.6"
    assert row["formula"] == "100.0"  # 8000 + 2 * 600 + 8 * 100
    assert row["measured / formula"] == "1.02"
