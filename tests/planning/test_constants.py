"""Constants that stand in several places: in the planner, in the class, in benchmarks and on a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from gensim.models import Word2Vec
from measuring import jobs

from gensim_tfw2v.cli.main import parse_arguments
from gensim_tfw2v.model.arguments import default_of
from gensim_tfw2v.planning import corpus_sample, frequencies, machines, output, tasks, workload
from gensim_tfw2v.planning.profiles import MODES
from gensim_tfw2v.planning.workload import Workload

PAGE = Path(__file__).parents[2] / "docs" / "how-it-works" / "planning.md"


def megabytes(count: int) -> str:
    return f"{count // 10**6} MB"


@pytest.mark.parametrize(
    "sentence",
    [
        f"{corpus_sample._PIECES} pieces of {corpus_sample._PIECE_BYTES >> 10} kB",
        f"Files of up to {corpus_sample._PIECES * corpus_sample._PIECE_BYTES >> 20} MB are read as a whole",
        f"up to rank {frequencies._COMMON_RANKS:,}",
        f"C / (r + {frequencies._FLATTENED_RANKS})",
        f"{frequencies.TEXT_REPETITION} n words that are drawn one by one",
        f"{megabytes(tasks._PROCESS)} + {megabytes(tasks._THREAD)} for each thread + vocabulary",
        f"{megabytes(tasks._SERVER)} + tables / servers + {megabytes(tasks._CONNECTION)} for each worker + "
        f"{tasks._MESSAGES_AT_ONCE * tasks._COPIES} x bytes of a message",
        f"{megabytes(tasks._WORKER)} + {megabytes(tasks._CORE)} for each core + "
        f"{4 * tasks._COPIES} x D x rows + {tasks._TOKEN} x tokens of a block",
        f"{megabytes(tasks._COORDINATOR)} + vocabulary + ids",
        f"{workload._WORD_BYTES} bytes for each word, {workload._TREE_WORD_BYTES} with hierarchical softmax",
        f"c / (1 + {machines.CORE_CONTENTION} (c - 1))",
    ],
)
def test_the_page_has_the_constants_of_the_code(sentence: str) -> None:
    text = PAGE.read_text(encoding="utf8").replace("\N{MULTIPLICATION SIGN}", "x").replace("\N{MINUS SIGN}", "-")
    assert sentence in " ".join(text.split())


def test_the_page_has_the_measured_and_planned_figures() -> None:
    result = Path(__file__).parents[2] / "benchmarks" / "results" / "plan_accuracy.json"
    rows = [
        (run["configuration"], name, run["measured"][name], run["planned"][name])
        for run in json.loads(result.read_text(encoding="utf8"))["runs"]
        for name in run["planned"]
    ]
    table = [
        f"| {configuration} | {name} | {measured:.{digits}f} | {planned:.{digits}f} | {planned / measured:.2f} |"
        for configuration, name, measured, planned in rows
        for digits in [0 if name.startswith("MB") else 1]
    ]
    assert "\n".join(table) in PAGE.read_text(encoding="utf8")


def test_defaults_are_those_of_the_class() -> None:
    model, flags = Word2Vec(), parse_arguments(["plan"])
    for name in ("vector_size", "window", "negative", "sample", "epochs", "min_count"):
        assert getattr(flags, name) == getattr(Workload, name) == getattr(model, name), name
    assert Workload.ns_exponent == model.ns_exponent
    assert flags.mode == Workload.mode
    assert MODES[Workload.mode] == (bool(model.sg), bool(model.hs))
    assert default_of("cache_memory") == tasks.CACHE_BYTES
    assert default_of("checkpoint_every") == output.CHECKPOINT_SECONDS


def test_benchmarks_have_the_modes_of_the_planner() -> None:
    assert {mode: (bool(sg), bool(hs)) for mode, (sg, hs) in jobs.MODES.items()} == MODES
