"""Measures vectors of documents beside gensim's: `python benchmarks/documents.py --help`."""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from measuring.checkout import import_tensorflow
from measuring.jobs import OPTIMIZERS, add_corpus_argument, number_from
from report.reports import add_output_arguments, say, show_score, show_spread, start_report
from report.stopping import status_of
from report.summaries import mean_and_sd, spread

MODES = {
    "dm": {"dm": 1},
    "dm-concat": {"dm": 1, "dm_concat": 1},
    "dbow": {"dm": 0},
    "dbow-words": {"dm": 0, "dbow_words": 1},
}
SYSTEMS = ("gensim", "tfw2v")
NEAR = 10
AT_ONCE = 2048  # documents that are compared with all others
_SETTINGS = ("words", "document_words", "modes", "systems", "epochs", "workers", "optimizer", "run_tokens",
             "vector_size", "repeats")  # fmt: skip
_NOTES = (
    "Documents are consecutive parts of the corpus with equally many words. A document of a text is about what the "
    f"next one is about. neighbours: percent of documents whose next document is among the {NEAR} nearest ones.",
    "found again: percent of documents, one in twenty, that are nearest to the vector inferred from their words.",
    "documents/s: inferred by gensim's `infer_vector` one after the other, and by `infer_corpus` of ours all at once.",
    "words/s: words of all epochs divided by the seconds of `train()`, with TensorFlow loaded before.",
)


def main(argv: list[str] | None = None) -> int:
    """Measure all systems in all modes; the exit status is 0."""
    arguments = _parser().parse_args(argv)
    report = start_report("Vectors of documents", arguments, _SETTINGS, _NOTES)
    import_tensorflow()
    documents = documents_of(Path(arguments.corpus), arguments.words, arguments.document_words)
    runs: list[dict[str, Any]] = []
    for seed in range(1, arguments.repeats + 1):
        for mode in arguments.modes:
            for system in arguments.systems:
                result = measure(documents, system, mode, seed, arguments)
                say(f"seed {seed}, {mode}, {system}: {result}")
                runs.append({"seed": seed, "mode": mode, "system": system, **result})
                report.save({"Results": table_of(runs)}, {"runs": runs})
    print(report.save({"Results": table_of(runs)}, {"runs": runs}))
    return 0


def documents_of(corpus: Path, words: int, document_words: int) -> list[Any]:
    """Return the first words of a corpus as tagged documents of so many words each."""
    from gensim.models.doc2vec import TaggedDocument

    with corpus.open(encoding="utf8") as file:
        found = list(islice((word for line in file for word in line.split()), words))
    parts = [found[first : first + document_words] for first in range(0, len(found), document_words)]
    return [TaggedDocument(part, [number]) for number, part in enumerate(parts)]


def measure(
    documents: Sequence[Any], system: str, mode: str, seed: int, arguments: argparse.Namespace
) -> dict[str, float]:
    """Train a model, and return its speed and scores."""
    from gensim.models import Doc2Vec

    from gensim_tfw2v import TFDoc2Vec

    own = {"optimizer": arguments.optimizer, "run_tokens": arguments.run_tokens}
    settings: dict[str, Any] = {
        "vector_size": arguments.vector_size,
        "epochs": arguments.epochs,
        "workers": arguments.workers,
        "seed": seed,
        **MODES[mode],
    }
    gc.collect()  # the last model, so that its end is not measured
    model: Any = Doc2Vec(**settings) if system == "gensim" else TFDoc2Vec(**settings, **own)
    model.build_vocab(documents)
    began = time.perf_counter()
    model.train(documents, total_examples=len(documents), epochs=arguments.epochs)
    seconds = time.perf_counter() - began
    words = arguments.epochs * sum(len(each.words) for each in documents)
    some = range(0, len(documents), 20)
    began = time.perf_counter()
    inferred = np.array([model.infer_vector(documents[number].words) for number in some])
    speeds = {"words_per_second": words / seconds, "inferred_per_second": len(some) / (time.perf_counter() - began)}
    if system == "tfw2v":
        began = time.perf_counter()
        inferred = model.infer_corpus(documents)[some]
        speeds["inferred_per_second"] = len(documents) / (time.perf_counter() - began)
    return speeds | {
        "neighbours": neighbours(model.dv.vectors),
        "found_again": found_again(model.dv.vectors, inferred, np.array(some)),
    }


def neighbours(vectors: np.ndarray) -> float:
    """Return the percent of documents whose next document is among the nearest ones."""
    unit, found = _unit(vectors), 0
    for first in range(0, len(unit) - 1, AT_ONCE):
        near = unit[first : min(first + AT_ONCE, len(unit) - 1)] @ unit.T
        rows = np.arange(len(near))
        near[rows, first + rows] = -np.inf
        ranks = (near > near[rows, first + rows + 1][:, np.newaxis]).sum(axis=1)
        found += int((ranks < NEAR).sum())
    return 100 * found / (len(unit) - 1)


def found_again(vectors: np.ndarray, inferred: np.ndarray, numbers: np.ndarray) -> float:
    """Return the percent of inferred vectors to which the vector of this number is the nearest."""
    unit, parts = _unit(vectors), range(0, len(numbers), AT_ONCE)
    nearest = [np.argmax(_unit(inferred[first : first + AT_ONCE]) @ unit.T, axis=1) for first in parts]
    return 100 * float(np.mean(np.concatenate(nearest) == numbers))


def _unit(vectors: np.ndarray) -> np.ndarray:
    rows: np.ndarray = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return rows


def table_of(runs: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Return a row for each mode and system, in the order of their first runs."""
    table = [["mode", "system", "runs", "words/s", "neighbours", "documents/s", "found again"]]
    for mode, system in dict.fromkeys((run["mode"], run["system"]) for run in runs):
        own = [run for run in runs if (run["mode"], run["system"]) == (mode, system)]
        neighbours, found = (mean_and_sd(run[name] for run in own) for name in ("neighbours", "found_again"))
        speed, inferred = (spread(run[name] for run in own) for name in ("words_per_second", "inferred_per_second"))
        shown = show_spread(speed, ",.0f"), show_score(neighbours), show_spread(inferred, ",.0f"), show_score(found)
        table.append([mode, system, str(len(own)), *shown])
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure speed and quality of vectors of documents beside gensim's.")
    add, count = parser.add_argument, number_from(1)
    add_corpus_argument(parser)
    add_output_arguments(parser, "documents")
    add("--words", type=count, default=2_000_000, metavar="N", help="of the corpus that are used (default 2000000)")
    add("--document-words", type=count, default=200, metavar="N", help="of a document (default 200)")
    add("--modes", nargs="+", choices=list(MODES), default=list(MODES), help="default: all")
    add("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS), help="default: all")
    add("--epochs", type=count, default=5, metavar="N", help="default: 5")
    add("--workers", type=count, default=2, metavar="N", help="default: 2")
    add("--optimizer", choices=OPTIMIZERS, help="default: chosen by the class")
    add("--run-tokens", type=count, metavar="N", help="default: chosen by the class")
    add("--vector-size", type=count, default=100, metavar="N", help="default: 100")
    add("--repeats", type=count, default=1, metavar="N", help="seeds (default 1)")
    return parser


if __name__ == "__main__":
    raise SystemExit(status_of(main))
