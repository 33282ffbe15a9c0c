"""`tfw2v tune`: searches the settings that suit a corpus, and prints the command that trains with the best ones."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gensim_tfw2v.cli.arguments import (
    add_column,
    add_progress,
    positive_number,
    share,
    share_or_corpus,
    whole_number,
)
from gensim_tfw2v.cli.corpora import check_corpus, text_errors_named
from gensim_tfw2v.cli.errors import CommandError
from gensim_tfw2v.cli.score_files import check_score_files
from gensim_tfw2v.cli.setting_flags import value_from
from gensim_tfw2v.cli.tune_output import as_json, as_text, line_about
from gensim_tfw2v.search.metrics import NAMES
from gensim_tfw2v.training.display import wants_bar

if TYPE_CHECKING:  # help needs no NumPy, which this imports
    from gensim_tfw2v.search.results import Trial

DESCRIPTION = """Search settings for CORPUS by successive halving: many candidates are trained for a few epochs, and the
best third of them again, three times as long, and so on. Print the trainings, the best first, and the command that
trains with the best settings. Ctrl-C ends the search with the best ones so far."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v tune`."""
    add = parser.add_argument
    add("corpus", metavar="CORPUS", type=Path, help="text file, plain or compressed, table, or folder, as for train")
    add_column(parser)
    add(
        "--metric",
        choices=NAMES,
        default=NAMES[0],
        help="what models are compared by: hits@10 or ndcg@10 for items, halves or score for text "
        "(default: %(default)s)",
    )
    add(
        "--items",
        action="store_true",
        help="sentences are sessions of items: begin from settings that suit them, and train on a tenth of the "
        "sessions, but at least 10,000 (default: no)",
    )
    _add_size(parser)
    add(
        "--set",
        dest="space",
        metavar="NAME=VALUE[,VALUE...]",
        action="append",
        default=[],
        help="values of a setting to try, as in window=5,10; one value fixes it; may be repeated (default: usual ones)",
    )
    add(
        "--validation",
        metavar="SHARE|CORPUS",
        type=share_or_corpus,
        default=0.1,
        help="share of the sentences to hold out and measure on, or another corpus (default: %(default)s)",
    )
    add(
        "--share",
        metavar="X",
        type=share,
        help="share of the other sentences to train on; settings for a large corpus show on a part of it (default: 1, "
        "with --items less)",
    )
    for name, content in (("--pairs", "word pairs"), ("--analogies", "analogies")):
        help_text = f"file of {content} for --metric score, as for evaluate; may be repeated"
        add(name, metavar="FILE", action="append", help=f"{help_text} (default: gensim's)")
    add("--results", metavar="FILE", type=Path, help="file that keeps every training, to resume (default: none)")
    _add_run(parser)


def _add_size(parser: argparse.ArgumentParser) -> None:
    for name, default, meaning in (
        ("--trials", 27, "candidates of the first round"),
        ("--epochs", 27, "epochs of the last round"),
        ("--rounds", 3, "rounds, at most"),
    ):
        help_text = f"{meaning} (default: %(default)s)"
        parser.add_argument(name, metavar="N", type=whole_number(1), default=default, help=help_text)
    parser.add_argument(
        "--budget",
        metavar="SECONDS",
        type=positive_number,
        help="time after which no training begins (default: no limit)",
    )


def _add_run(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--seed", metavar="N", type=whole_number(0), default=1, help="seed of everything random (default: %(default)s)")
    add("--workers", metavar="N", type=whole_number(1), default=3, help="cores to use (default: %(default)s)")
    add("--cache-dir", metavar="FOLDER", help="folder for the encoded corpus (default: the temporary folder)")
    add("--json", action="store_true", help="print JSON instead of a table (default: no)")
    add_progress(parser, "a line for each training", "no progress")


def run(arguments: argparse.Namespace) -> None:
    """Search, and print what was found."""
    space = _space(arguments.space)
    check_corpus(arguments.corpus, arguments.column)
    if isinstance(arguments.validation, Path):
        check_corpus(arguments.validation, arguments.column)
    if arguments.cache_dir is not None and not Path(arguments.cache_dir).is_dir():
        raise CommandError(f"--cache-dir {arguments.cache_dir!r} is not a folder")
    if arguments.results is not None and not arguments.results.absolute().parent.is_dir():
        raise CommandError(f"--results: folder {str(arguments.results.absolute().parent)!r} is not there")
    check_score_files({"--pairs": arguments.pairs}, {"--analogies": arguments.analogies})
    from gensim_tfw2v.search.search import INTERRUPTED
    from gensim_tfw2v.search.tune import tune

    draws_bar = wants_bar(False if arguments.quiet else arguments.progress)
    names = ("metric", "trials", "epochs", "rounds", "validation", "share", "items", "budget", "results", "pairs")
    names += ("analogies", "column", "seed", "workers", "cache_dir")
    given = {name: getattr(arguments, name) for name in names}
    report = None if draws_bar or arguments.quiet else _print_line
    try:
        with text_errors_named(arguments.corpus):
            found = tune(arguments.corpus, **given, space=space, progress=draws_bar, report=report)
    except ValueError as error:
        raise CommandError(str(error)) from error
    as_what = as_json if arguments.json else as_text
    print(as_what(found, arguments.corpus, arguments.column), flush=True)
    if found.ended == INTERRUPTED:
        raise KeyboardInterrupt


def _space(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Return the values of settings that the flags --set name."""
    space: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name or name in space:
            what = "is given twice" if name in space and equals else "is not NAME=VALUE or NAME=VALUE,VALUE"
            raise CommandError(f"--set {text!r} {what}")
        try:
            space[name] = [value_from(name, value.strip()) for value in values.split(",")]
        except CommandError as error:
            raise CommandError(f"--set {error}") from error
    return space


def _print_line(trial: Trial, best: Trial, part: float) -> None:
    print(line_about(trial, best, part), file=sys.stderr, flush=True)
