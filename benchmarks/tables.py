"""Measures training from tables beside training from text: `python benchmarks/tables.py --help`."""

from __future__ import annotations

import argparse
import gc
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from measuring.checkout import import_tensorflow
from measuring.corpora import cut_corpus
from measuring.jobs import MODES, add_corpus_argument, number_from
from measuring.runner import order_of
from measuring.table_sources import LISTS, TEXT, TEXT_ROWS, missing_packages, sources_in
from report.reports import add_output_arguments, say, show_spread, start_report
from report.stopping import status_of
from report.summaries import paired_ratio, spread

_SETTINGS = ("words", "modes", "rows", "sources", "repeats", "vector_size")
_NOTES = (
    "words/s: words of the corpus divided by the seconds of the whole call, which counts words and trains one epoch "
    "with one worker. Columns are in memory before. TensorFlow is loaded, and its graphs are made, before the first "
    "run. The middle run, and the slowest and fastest.",
    "ratio: words/s divided by those of the text file. In brackets: the smallest and the largest ratio of runs of the "
    "same round.",
    "All sources of a round train in turns in one process, in the opposite order in every other round.",
)


def main(argv: list[str] | None = None) -> int:
    """Measure all sources with all modes; the exit status is 0."""
    arguments = _parser().parse_args(argv)
    missing = {source: name for source, name in missing_packages(arguments.sources).items() if name}
    for source, name in missing.items():
        say(f"{source} is left out: there is no package {name}")
    arguments.sources = [source for source in arguments.sources if source not in missing]
    report = start_report("Training from tables", arguments, _SETTINGS, _NOTES)
    import_tensorflow()
    runs: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="tfw2v-tables-") as folder:
        corpus = Path(folder) / "corpus.txt"
        cut_corpus(Path(arguments.corpus), arguments.words, corpus)
        sources = sources_in(corpus, arguments.sources, arguments.rows)
        for mode in arguments.modes:
            measure(sources[TEXT], mode, arguments.vector_size)  # which makes the graphs
        for turn, mode, source in in_turns(arguments.repeats, arguments.modes, list(sources)):
            result = measure(sources[source], mode, arguments.vector_size)
            say(f"round {turn + 1}, {mode}, {source}: {result['words_per_second']:,.0f} words/s")
            runs.append({"round": turn, "mode": mode, "source": source, **result})
            report.save({"Results": table_of(runs)}, {"runs": runs})
    print(report.save({"Results": table_of(runs)}, {"runs": runs}))
    return 0


def in_turns(rounds: int, modes: Sequence[str], sources: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Yield (round, mode, source) of every round, with the sources in reverse order in every other round."""
    for turn in range(rounds):
        for mode in modes:
            for source in order_of(turn, sources):
                yield turn, mode, source


def measure(source: Mapping[str, Any], mode: str, vector_size: int) -> dict[str, float]:
    """Train one epoch with one worker from these arguments of the class, and return seconds and words/s."""
    from gensim_tfw2v import TFWord2Vec

    sg, hs = MODES[mode]
    gc.collect()  # the last model, so that its end is not measured
    began = time.perf_counter()
    model = TFWord2Vec(
        **source, sg=sg, hs=hs, negative=0 if hs else 5, vector_size=vector_size, epochs=1, workers=1, progress=False
    )
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "words_per_second": model.corpus_total_words / seconds}


def table_of(runs: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return a row for each mode and source, in the order of their first runs."""
    speeds: dict[tuple[str, str], dict[int, float]] = {}
    for run in runs:
        speeds.setdefault((run["mode"], run["source"]), {})[run["round"]] = run["words_per_second"]
    table = [["mode", "source", "runs", "words/s", "ratio"]]
    for (mode, source), by_round in sorted(speeds.items(), key=lambda entry: list(MODES).index(entry[0][0])):
        ratio = paired_ratio(by_round, speeds.get((mode, TEXT), {}))
        speed = show_spread(spread(by_round.values()), ",.0f")
        table.append([mode, source, str(len(by_round)), speed, show_spread(ratio, ".2f")])
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Measure words/s of training from a text file, from files of Parquet and Arrow, and from columns "
        "of pyarrow, Hugging Face's datasets, Polars and pandas that hold the same text."
    )
    add, count = parser.add_argument, number_from(1)
    add_corpus_argument(parser)
    add_output_arguments(parser, "tables")
    every = list(missing_packages())
    add("--words", type=count, default=3_000_000, metavar="N", help="of the corpus that are used (default 3000000)")
    add("--modes", nargs="+", choices=list(MODES), default=["sg-neg", "cbow-neg"], help="default: sg-neg cbow-neg")
    add("--rows", choices=[TEXT_ROWS, LISTS], default=TEXT_ROWS, help="what rows of tables are (default text)")
    add(
        "--sources",
        nargs="+",
        choices=every[1:],
        default=every[1:],
        help="beside the text file; those whose package is missing are left out (default: all)",
    )
    add("--repeats", type=count, default=3, metavar="N", help="rounds (default 3)")
    add("--vector-size", type=count, default=100, metavar="N", help="default: 100")
    return parser


if __name__ == "__main__":
    raise SystemExit(status_of(main))
