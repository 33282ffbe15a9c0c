"""`tfw2v evaluate`: scores a model's vectors on word similarities and analogies."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gensim_tfw2v.cli.arguments import add_switch, add_value, whole_number
from gensim_tfw2v.cli.columns import lines_of_columns
from gensim_tfw2v.cli.inputs import add_format_arguments, check_score_files, vectors_at

if TYPE_CHECKING:  # help needs no NumPy, which this package imports
    from gensim_tfw2v.evaluation.scores import Scores

_MOST_UNKNOWN = 0.5  # if a larger share of a set is unknown, its score means little

DESCRIPTION = """Score a model's vectors on human judgements of word similarity and on analogies (a is to b as
c is to d). Without --pairs and --analogies, the sets that come with gensim are used: wordsim353, simlex999 and
questions-words."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `tfw2v evaluate`."""
    add = parser.add_argument
    add("model", type=Path, help="gensim model, keyed vectors, or word2vec text or binary file")
    for flag, lines in (
        ("--pairs", "lines 'word TAB word TAB number'"),
        ("--analogies", "lines of four words under headings ': section'"),
    ):
        add(flag, metavar="FILE", action="append", help=f"score on this file of {lines}; may be repeated")
    add_format_arguments(parser)
    add_value(parser, "--restrict-vocab", "N", whole_number(1), 300_000, "use only the first N words of the model")
    add_switch(parser, "--case-sensitive", "distinguish upper from lower case")
    add_switch(parser, "--sections", "show every section of the analogies")
    add_switch(parser, "--json", "print JSON instead of a table")


def run(arguments: argparse.Namespace) -> None:
    """Score the model and print the scores."""
    from gensim_tfw2v.evaluation import score_vectors

    own_files = arguments.pairs is not None or arguments.analogies is not None
    check_score_files("--", arguments.pairs, arguments.analogies)
    vectors = vectors_at(arguments.model, arguments)
    scores = score_vectors(
        vectors,
        arguments.pairs or [] if own_files else None,
        arguments.analogies or [] if own_files else None,
        restrict_vocabulary=arguments.restrict_vocab,
        case_insensitive=not arguments.case_sensitive,
    )
    if arguments.json:
        print(json.dumps({"model": str(arguments.model), **scores.as_dict()}, indent=2))
        return
    print(f"{arguments.model}: {len(vectors):,} words, {vectors.vector_size} dimensions")
    print(*lines_of_columns(_table(scores, arguments.sections), at_left=1), sep="\n")
    shares = {pair.name: pair.unknown_share for pair in scores.pairs}
    shares |= {analogy.name: analogy.unknown_share for analogy in scores.analogies}
    if little_known := [name for name, share in shares.items() if share > _MOST_UNKNOWN]:
        print(
            f"More than half of {', '.join(little_known)} have a word without a vector, and the scores of the rest say "
            "little: train on more text, or score on --pairs and --analogies of your own."
        )


def _table(scores: Scores, sections: bool) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table, in percent except for the numbers of questions."""
    yield "set", "Spearman", "Pearson", "accuracy", "unknown", "asked"
    for pair in scores.pairs:
        yield pair.name, _percent(pair.spearman), _percent(pair.pearson), "", *_asked(pair)
    for analogy in scores.analogies:
        yield analogy.name, "", "", _percent(analogy.accuracy), *_asked(analogy)
        for section in analogy.sections if sections else ():
            yield f"  {section.name}", "", "", _percent(section.accuracy), *_asked(section)
    yield "mean", _percent(scores.mean, 1), "", "", "", ""


def _asked(score: Any) -> tuple[str, str]:
    unknown = _percent(1 - score.known / score.total if score.total else None)
    return unknown, f"{score.known:,} of {score.total:,}"


def _percent(value: float | None, factor: float = 100) -> str:
    return "-" if value is None else f"{factor * value:.1f}"
