"""`tfw2v tune`: searches the settings that suit a corpus, and prints the command that trains with the best ones."""

from __future__ import annotations

import argparse
import functools
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gensim_tfw2v.cli import train_arguments
from gensim_tfw2v.cli.arguments import (
    add_column,
    add_progress,
    add_switch,
    add_value,
    cores,
    positive_number,
    share,
    share_or_corpus,
    whole_number,
)
from gensim_tfw2v.cli.columns import lines_of_columns
from gensim_tfw2v.cli.errors import CommandError, refusing
from gensim_tfw2v.cli.inputs import check_corpus, check_is_folder, check_score_files, text_errors_named
from gensim_tfw2v.search.metrics import NAMES
from gensim_tfw2v.training.display import wants_bar

if TYPE_CHECKING:  # help needs no NumPy, which this imports
    from gensim_tfw2v.search.results import Trial
    from gensim_tfw2v.search.search import SearchResult

DESCRIPTION = """Search settings for CORPUS by successive halving: many candidates are trained for a few epochs, and the
best third of them again, three times as long, and so on. Print the trainings, the best first, and the command that
trains with the best settings. Ctrl-C ends the search with the best ones so far."""
_MOST_ROWS = 10
_SWITCHES = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v tune`."""
    add, count = parser.add_argument, whole_number(1)
    add("corpus", metavar="CORPUS", type=Path, help="text file, plain or compressed, table, or folder, as for train")
    add_column(parser)
    add(
        "--metric",
        choices=NAMES,
        default=NAMES[0],
        help="what models are compared by: hits@10 or ndcg@10 for items, halves or score for text "
        "(default: %(default)s)",
    )
    meaning = (
        "sentences are sessions of items: begin from settings that suit them, and train on a tenth of the sessions, "
    )
    add_switch(parser, "--items", meaning + "but at least 10,000")
    add_value(parser, "--trials", "N", count, 27, "candidates of the first round")
    add_value(parser, "--epochs", "N", count, 27, "epochs of the last round")
    add_value(parser, "--rounds", "N", count, 3, "rounds, at most")
    add_value(parser, "--budget", "SECONDS", positive_number, None, "time after which no training begins", "no limit")
    add(
        "--set",
        dest="space",
        metavar="NAME=VALUE[,VALUE...]",
        action="append",
        default=[],
        help="values of a setting to try, as in window=5,10; one value fixes it; may be repeated (default: usual ones)",
    )
    meaning = "share of the sentences to hold out and measure on, or another corpus"
    add_value(parser, "--validation", "SHARE|CORPUS", share_or_corpus, 0.1, meaning)
    meaning = "share of the other sentences to train on; settings for a large corpus show on a part of it"
    add_value(parser, "--share", "X", share, None, meaning, "1, with --items less")
    for name, content in (("--pairs", "word pairs"), ("--analogies", "analogies")):
        help_text = f"file of {content} for --metric score, as for evaluate; may be repeated"
        add(name, metavar="FILE", action="append", help=f"{help_text} (default: gensim's)")
    add_value(parser, "--results", "FILE", Path, None, "file that keeps every training, to resume", "none")
    add_value(parser, "--seed", "N", whole_number(0), 1, "seed of everything random")
    add_value(parser, "--workers", "N", cores, 3, "cores to use, -1 for all")
    add_value(parser, "--cache-dir", "FOLDER", str, None, "folder for the encoded corpus", "the temporary folder")
    add_switch(parser, "--json", "print JSON instead of a table")
    add_progress(parser, "a line for each training", "no progress")


def run(arguments: argparse.Namespace) -> None:
    """Search, and print what was found."""
    space = _space(arguments.space)
    check_corpus(arguments.corpus, arguments.column)
    if isinstance(arguments.validation, Path):
        check_corpus(arguments.validation, arguments.column)
    check_is_folder("--cache-dir", arguments.cache_dir)
    if arguments.results is not None and not arguments.results.absolute().parent.is_dir():
        raise CommandError(f"--results: folder {str(arguments.results.absolute().parent)!r} is not there")
    check_score_files("--", arguments.pairs, arguments.analogies)
    from gensim_tfw2v.search.search import INTERRUPTED
    from gensim_tfw2v.search.tune import tune

    draws_bar = wants_bar(False if arguments.quiet else arguments.progress)
    names = (
        *("metric", "trials", "epochs", "rounds", "validation", "share", "items", "budget", "results", "pairs"),
        *("analogies", "column", "seed", "workers", "cache_dir"),
    )
    given = {name: getattr(arguments, name) for name in names}
    report = None if draws_bar or arguments.quiet else _print_line
    with refusing(ValueError), text_errors_named(arguments.corpus):
        found = tune(arguments.corpus, **given, space=space, progress=draws_bar, report=report)
    print(_as_json(found, arguments) if arguments.json else _as_text(found, arguments), flush=True)
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
        with refusing(CommandError, prefix="--set "):
            space[name] = [value_from(name, value.strip()) for value in values.split(",")]
    return space


def value_from(name: str, text: str) -> Any:
    """Return the value of a setting that a text stands for; raise CommandError if it is none."""
    actions = _actions_of(name)
    first = actions[0]
    is_switch = isinstance(first, argparse.BooleanOptionalAction | argparse._StoreTrueAction)
    try:
        if is_switch:
            return _SWITCHES[text.lower()]
        if isinstance(first, argparse._StoreConstAction):
            return {str(action.const): action.const for action in actions}[text]
        value = text if first.type is None else first.type(text)  # type: ignore[operator]
        if first.choices is None or value in first.choices:
            return value
    except argparse.ArgumentTypeError as error:
        raise CommandError(f"{name}={text}: {error}") from error
    except (KeyError, ValueError):
        pass
    values = ["yes", "no"] if is_switch else sorted(map(str, first.choices or [action.const for action in actions]))
    raise CommandError(f"{name}={text}: {text!r} is none of {', '.join(values)}")


def flags_of(settings: Mapping[str, Any]) -> list[str]:
    """Return the flags with which `tfw2v train` has these settings, without those that are its defaults."""
    flags: list[str] = []
    for name, value in settings.items():
        actions = _actions_of(name)
        first = actions[0]
        if value == first.default:
            continue
        if isinstance(first, argparse._StoreConstAction):
            flags.append(next(action.option_strings[0] for action in actions if action.const == value))
        elif isinstance(first, argparse.BooleanOptionalAction):
            flags.append(next(flag for flag in first.option_strings if flag.startswith("--no-") != value))
        else:
            flags += [first.option_strings[0], str(value)]
    return flags


def _actions_of(name: str) -> list[argparse.Action]:
    """Return the flags of `tfw2v train` that set an argument; raise CommandError if there is none."""
    found = [action for action in _parser()._actions if action.dest == name and action.option_strings]
    if not found:
        raise CommandError(f"{name!r} is not a setting of `tfw2v train`")
    return found


@functools.cache
def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    train_arguments.add_arguments(parser)
    return parser


def _as_text(found: SearchResult, arguments: argparse.Namespace) -> str:
    """Return a table of the best trainings and of the default settings, and the command of the best one."""
    best, default = found.best, found.default
    seconds = sum(trial.seconds for trial in found.trials)
    ended = "" if found.ended == "complete" else f" ({found.ended})"
    counted = f"{len(found.trials)} trainings in {seconds:.1f} s{ended}"
    if best is default:
        summary = f"the default settings are the best of {counted}"
    else:
        summary = f"{found.metric} {_number(best.value)}, the defaults {_number(default.value)}; {counted}"
    return "\n".join([*lines_of_columns(_table(found), at_left=0), "", summary, _command_of(best, arguments)])


def _as_json(found: SearchResult, arguments: argparse.Namespace) -> str:
    content = {
        "metric": found.metric,
        "ended": found.ended,
        "best": _content(found.best),
        "default": _content(found.default),
        "command": _command_of(found.best, arguments),
        "trainings": [_content(trial) for trial in found.trials],
    }
    return json.dumps(content, indent=2, ensure_ascii=False)


def _print_line(trial: Trial, best: Trial, part: float) -> None:
    settings = " ".join(f"{name}={value}" for name, value in trial.arguments.items())
    line = f"{part:4.0%}  {_number(trial.value)}  best {_number(best.value)}  {settings}"
    print(line, file=sys.stderr, flush=True)


def _command_of(trial: Trial, arguments: argparse.Namespace) -> str:
    """Return the command line that trains with the settings of a training."""
    named = [] if arguments.column is None else ["--column", arguments.column]
    words = ["tfw2v", "train", str(arguments.corpus), *named, "--output", "vectors.kv", *flags_of(trial.arguments)]
    return shlex.join(words)


def _content(trial: Trial) -> dict[str, Any]:
    return {"settings": trial.arguments, "value": trial.value, "seconds": round(trial.seconds, 3)}


def _table(found: SearchResult) -> list[list[str]]:
    """Return the rows of the table, the best trainings first, with the settings that differ."""
    shown = list(found.trials[:_MOST_ROWS])
    if found.default not in shown:
        shown.append(found.default)
    names = [name for name in found.best.settings if len({trial.settings[name] for trial in found.trials}) > 1]
    rows = [[found.metric, "epochs", "seconds", *names]]
    for trial in shown:
        row = [_number(trial.value), str(trial.epochs), f"{trial.seconds:.1f}"]
        row += [str(trial.settings[name]) for name in names]
        rows.append([*row, *(["the defaults"] if trial is found.default else [])])
    return rows


def _number(value: float | None) -> str:
    return "failed" if value is None else f"{value:.4f}"
